"""``memfs browse``: the memories as plain pages, served on loopback or written as a static site."""
