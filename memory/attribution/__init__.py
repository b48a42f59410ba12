"""Attribution: which bullets of those shown to a session were used, how it ended, and who gets credit or blame."""
