"""memfs: a git-backed, plain-files memory repository for coding agents and teams."""

__version__ = "0.1.0"

REPOSITORY = "https://github.com/memfs-git/memfs"
"""Where memfs itself is developed."""
