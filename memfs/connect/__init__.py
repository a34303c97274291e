"""Installing memfs into coding agents, taking it out again, and finding out why it does not work."""
