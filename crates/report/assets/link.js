// link
