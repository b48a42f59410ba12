"""The terminal view of proposals, for `mem review`."""
