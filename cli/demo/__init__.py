"""Small session logs, written for `mem demo`."""
