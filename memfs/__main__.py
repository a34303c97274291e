"""``python -m memfs``. The working directory is taken off the import path first: a repository that
holds ``yaml.py`` must not be imported (TRUST 7)."""

import os
import sys

sys.path[:] = [entry for entry in sys.path if entry and os.path.realpath(entry) != os.path.realpath(os.getcwd())]

from memfs.cli import entry_point  # noqa: E402

entry_point()
