"""Pure numbers: what evidence says of a bullet. No clock, no files; time is an argument."""
