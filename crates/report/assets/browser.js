// browser
