"""The command `mem`: parse, call, print."""
