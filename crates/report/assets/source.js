// source
