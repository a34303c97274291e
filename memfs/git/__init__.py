"""git: the one door to processes, reading that runs nothing of a repository, commits that disturb nobody."""
