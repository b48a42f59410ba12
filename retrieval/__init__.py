"""From a prompt to the few bullets that belong in front of it."""
