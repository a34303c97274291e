"""How git would store a file of the work tree: its line ends, LFS pointers, and filters (gitattributes(5)).

No program of a filter is ever run.
"""

from __future__ import annotations

import hashlib
import os
import re

from memfs.disk.worktree import WorkTree, read_git_config
from memfs.errors import InvalidMemoryError, MemfsError
from memfs.git.read import blob_id, object_format, read_blob, read_git, user_git_setting
from memfs.model.codepoints import plain

_ATTRIBUTES = ("text", "crlf", "eol", "filter", "working-tree-encoding", "ident")
_FILTERING = (b"filter", b"working-tree-encoding", b"ident")
_DEBUG = re.compile(
    rb"[0-9]{6} ([0-9a-f]{40,64}) 0\t.*\n  ctime: .*\n  mtime: ([0-9]+):([0-9]+)\n(?:.*\n)*?  size: ([0-9]+)"
)
_UNPRINTED = frozenset(range(32)) - {8, 9, 10, 12, 13, 27} | {127}


def stored_forms(raw: bytes) -> tuple[bytes, ...]:
    """Return ``raw`` as it is, and as git stores text of it: with LF for CRLF, where that is another one."""
    return (raw, raw.replace(b"\r\n", b"\n")) if b"\r\n" in raw else (raw,)


def lfs_pointer(raw: bytes) -> bytes:
    """Return the pointer that git-lfs stores instead of ``raw`` (its specification, version 1)."""
    oid = hashlib.sha256(raw).hexdigest()
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {len(raw)}\n".encode("ascii")


def clean_blob(tree: WorkTree, path: str, raw: bytes) -> str:
    """Return git's name for ``raw`` as `git add` would store it at ``path``; no filter's program is run.

    Raises :class:`InvalidMemoryError` where only such a program could tell, and the index does not know.
    """
    algorithm = object_format(tree)
    if tree.git_dir is None:
        return blob_id(raw, algorithm=algorithm)
    given = _attributes_of(tree, path)
    name = given["filter"]
    odd = name if name not in ("unspecified", "unset", "lfs") else None
    for attribute in ("working-tree-encoding", "ident"):
        if given[attribute] not in ("unspecified", "unset"):
            odd = odd or attribute
    if odd is not None:
        blob = index_blob(tree, path)
        if blob is None:
            raise InvalidMemoryError(
                f"git changes this file when it is added ({plain(odd)}), so only its committed content is known",
                where=plain(path),
                hint="commit the file, then run the same command again",
            )
        return blob
    if name == "lfs":
        return blob_id(raw if raw.startswith(b"version https://git-lfs") else lfs_pointer(raw), algorithm=algorithm)
    return blob_id(_clean(tree, path, raw, given), algorithm=algorithm)


def index_blob(tree: WorkTree, path: str) -> str | None:
    """Return what git's index has for ``path``, where the file was not touched since; None otherwise."""
    if tree.git_dir is None:
        return None
    try:
        found = _DEBUG.match(read_git(tree, "ls-files", "-s", "--debug", "--", path))
        status = os.lstat(os.path.join(str(tree.root), path))
        written = os.stat(os.path.join(tree.git_dir, "index")).st_mtime_ns
    except (MemfsError, OSError):
        return None
    if found is None:
        return None
    touched = int(found[2]) * 1_000_000_000 + int(found[3])
    # git's index cannot tell what was written in the same moment as itself (its "racy" entries).
    is_same = status.st_mtime_ns == touched < written and status.st_size & 0xFFFFFFFF == int(found[4])
    return found[1].decode("ascii") if is_same else None


def is_filtered(tree: WorkTree, path: str) -> bool:
    """Return whether an attributes file above ``path`` speaks of something that changes content."""
    folders = path.split("/")[:-1]
    files = [os.path.join(*folders[:depth], ".gitattributes") for depth in range(len(folders) + 1)]
    places = [os.path.join(str(tree.root), name) for name in files]
    if tree.common_dir is not None:
        places.append(os.path.join(tree.common_dir, "info", "attributes"))
    for place in places:
        try:
            with open(
                place, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK | os.O_NOFOLLOW)
            ) as file:
                text = file.read(1024 * 1024)
        except OSError:
            continue
        if any(word in text for word in _FILTERING):
            return True
    return False


def _attributes_of(tree: WorkTree, path: str) -> dict[str, str]:
    fields = read_git(tree, "check-attr", "-z", *_ATTRIBUTES, "--", path).decode("utf-8", "replace").split("\0")
    return dict(zip(fields[1::3], fields[2::3], strict=False))


def _clean(tree: WorkTree, path: str, raw: bytes, given: dict[str, str]) -> bytes:
    """Return ``raw`` with the line ends that git stores (convert.c: text, auto, or left alone)."""
    if b"\r\n" not in raw:
        return raw
    text = given["text"] if given["text"] != "unspecified" else {"input": "set"}.get(given["crlf"], given["crlf"])
    if text == "unspecified" and given["eol"] in ("lf", "crlf"):
        text = "set"
    if text == "unspecified":
        setting = read_git_config(tree).get("core.autocrlf") or user_git_setting("core.autocrlf") or "false"
        text = "unset" if setting.lower() in ("false", "no", "off", "0") else "auto"
    if text == "unset" or (text == "auto" and (_is_binary(raw) or _has_crlf_in_index(tree, path))):
        return raw
    return raw.replace(b"\r\n", b"\n")


def _is_binary(raw: bytes) -> bool:
    lone = raw.count(b"\r") != raw.count(b"\r\n")
    odd = sum(raw.count(byte) for byte in _UNPRINTED) - raw.endswith(b"\x1a")
    return lone or b"\0" in raw or (len(raw) - odd) >> 7 < odd


def _has_crlf_in_index(tree: WorkTree, path: str) -> bool:
    try:
        words = read_git(tree, "ls-files", "-s", "--", path).split()
        return len(words) > 1 and b"\r\n" in read_blob(tree, words[1].decode("ascii"))
    except MemfsError:
        return False
