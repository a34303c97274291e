"""Attributes that make a file on the disk and its blob differ: memfs's commits run no filter, so it refuses such paths.

A repository whose notes are encrypted by a filter would get the plain text in its history otherwise.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial

from memfs.disk.worktree import WorkTree, printable
from memfs.errors import UsageError
from memfs.git.read import read_git

CONVERTING = ("filter", "working-tree-encoding", "ident")
_OFF = (b"unspecified", b"unset")


def find_conversions(read: Callable[..., bytes], paths: Sequence[str]) -> dict[str, str]:
    """Return the paths whose content a filter or an encoding changes, each with the attribute (``filter=crypt``).

    ``read`` runs git with these arguments (and ``input``) and returns its output. Source: git-check-attr(1).
    """
    if not paths:
        return {}
    asked = b"".join(os.fsencode(path) + b"\0" for path in paths)
    fields = read("check-attr", "-z", "--stdin", *CONVERTING, input=asked).split(b"\0")[:-1]
    found: dict[str, str] = {}
    for path, name, value in zip(fields[::3], fields[1::3], fields[2::3], strict=True):
        if value not in _OFF:
            shown = name if value == b"set" else name + b"=" + value
            found.setdefault(os.fsdecode(path), printable(os.fsdecode(shown)))
    return found


def refuse_filtered(tree: WorkTree, paths: Sequence[str], *, read: Callable[..., bytes] | None = None) -> None:
    """Raise :class:`UsageError` for the first of ``paths`` that git would convert.

    Without ``read`` the user's own ``core.attributesFile`` does not count, as in every reading git.
    """
    for path, attribute in find_conversions(read or partial(read_git, tree), paths).items():
        raise refuse_conversion(path, attribute)


def refuse_conversion(path: str, attribute: str) -> UsageError:
    """Return the error for writing a path that git would convert."""
    return UsageError(
        f"git converts this file ({attribute}), and memfs's commits run no filter, so nothing was written",
        where=printable(path),
        hint="take the attribute off memories/ and .memfs/ in .gitattributes, or keep such notes elsewhere",
    )
