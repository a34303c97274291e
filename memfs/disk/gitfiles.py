"""The small text files of a git directory, read without starting git.

Formats: gitrepository-layout(5), git-config(1), git-pack-refs(1). What is read is hostile: each
file must be a regular one of bounded size, and each parser answers None to what it does not know,
so that the caller falls back to git or refuses.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator

_OBJECT_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SECTION = re.compile(r'\[\s*([A-Za-z0-9.-]+)\s*(?:"((?:[^"\\\n]|\\.)*)")?\s*\]')
_VARIABLE = re.compile(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=[ \t]*(.*))?$")
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b", '"': '"', "\\": "\\"}

SMALL_FILE = 1024 * 1024
"""Largest git file that is read whole by default; git has the same limit for a ``.git`` file."""


def read_small(path: str, *, limit: int = SMALL_FILE) -> bytes | None:
    """Return the bytes of a regular file of at most ``limit`` bytes, or None. Never waits on a FIFO."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) or status.st_size > limit:
            return None
        with os.fdopen(os.dup(fd), "rb") as file:
            return file.read(limit + 1)[:limit]
    except OSError:
        return None
    finally:
        os.close(fd)


def is_object_id(text: str) -> bool:
    """Return whether ``text`` is a full object name, SHA-1 or SHA-256, in lower case."""
    return _OBJECT_ID.fullmatch(text) is not None


def is_ref_name(text: str) -> bool:
    """Return whether ``text`` is a full ref name that stays inside the git directory as a path."""
    return (
        text.startswith("refs/")
        and not any(part in ("", ".", "..") or part.endswith(".lock") for part in text.split("/"))
        and not any(ord(char) < 0x21 or ord(char) == 0x7F or char in "~^:?*[\\" for char in text)
        and ".." not in text
        and "@{" not in text
    )


def parse_git_file(raw: bytes) -> str | None:
    """Return the path that a ``.git`` file names after ``gitdir: ``, or None where it is none."""
    if not raw.startswith(b"gitdir: ") or b"\0" in raw:
        return None
    path = raw[len(b"gitdir: ") :].rstrip(b"\r\n")
    return os.fsdecode(path) if path else None


def parse_head(raw: bytes) -> tuple[str | None, str | None] | None:
    """Return ``(ref, None)`` or ``(None, object id)`` of a ``HEAD`` or loose ref file, or None."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return None
    text = text.rstrip("\n\r ")
    if text.startswith("ref:"):
        ref = text[len("ref:") :].lstrip(" \t")
        return (ref, None) if is_ref_name(ref) else None
    return (None, text) if is_object_id(text) else None


def find_packed_ref(raw: bytes, ref: str) -> str | None:
    """Return the object id that a ``packed-refs`` file gives for ``ref``, or None."""
    wanted = b" " + ref.encode("utf-8", "surrogateescape")
    at = raw.find(wanted)
    while at != -1:
        end = at + len(wanted)
        start = raw.rfind(b"\n", 0, at) + 1
        if end == len(raw) or raw[end : end + 1] == b"\n":
            name = raw[start:at].decode("ascii", "replace")
            if is_object_id(name):
                return name
        at = raw.find(wanted, at + 1)
    return None


def parse_config(raw: bytes) -> dict[str, str | None]:
    """Return the last value of each variable of a git config file, as ``section.sub.name``.

    Section and variable names are in lower case; a variable without ``=`` has the value None,
    which git reads as true. Includes are not followed. Lines that are not config are passed over:
    git would refuse the file, and then says so itself.
    """
    values: dict[str, str | None] = {}
    prefix = ""
    lines = iter(raw.decode("utf-8", "surrogateescape").replace("\r\n", "\n").split("\n"))
    for line in lines:
        rest = line.lstrip("\ufeff \t")
        if rest.startswith("["):
            section = _SECTION.match(rest)
            if section is None:
                continue
            name, sub = section.group(1).lower(), section.group(2)
            prefix = name + "." if sub is None else name + "." + re.sub(r"\\(.)", r"\1", sub) + "."
            rest = rest[section.end() :].lstrip(" \t")
        variable = _VARIABLE.match(rest)
        if variable is None:
            continue
        value = variable.group(2)
        values[prefix + variable.group(1).lower()] = None if value is None else _parse_value(value, lines)
    return values


def is_true(value: str | None) -> bool:
    """Return whether git reads ``value`` of a variable that is there as true."""
    if value is None:
        return True
    if value.lower() in ("true", "yes", "on"):
        return True
    return value.isdecimal() and int(value[:18]) != 0


def _parse_value(text: str, lines: Iterator[str]) -> str:
    """Return what git makes of the right side of a variable: quotes and escapes undone, a comment taken away."""
    value, kept = "", 0  # kept: up to the last part that is not a blank at the end
    quoted = False
    while True:
        for piece in re.findall(r"\\.?|[^\\]", text):
            if piece == '"':
                quoted = not quoted
            elif piece in "#;" and not quoted:
                return value[:kept]
            elif piece == "\\":  # at the end of the line: it goes on below
                break
            else:
                value += _ESCAPES.get(piece[1], piece[1]) if len(piece) == 2 else piece
            if quoted or piece not in " \t":
                kept = len(value)
        else:
            return value[:kept]
        text = next(lines, "")
