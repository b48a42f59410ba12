"""Session logs of coding agents, read into one kind of event; one file an agent."""
