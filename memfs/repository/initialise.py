"""Making a memory repository: new, inside a code repository, or a personal one (DESIGN 4).

Nothing is overwritten, and running it again adds what is missing. The files are handed back to be
committed, so that each becomes part of a commit or of none.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from memfs.disk.files import read_if_there
from memfs.disk.places import Places
from memfs.disk.private import make_folder
from memfs.disk.shipped import iter_template
from memfs.disk.worktree import NoWorkTreeError, WorkTree, find_work_tree, printable
from memfs.errors import SetupError, UsageError
from memfs.git.process import run
from memfs.git.read import (
    blob_id,
    blobs_at,
    head_commit,
    object_format,
    read_identity,
    require_identity,
    user_git_setting,
    without_git_variables,
)
from memfs.model.values import dataclass, field

ATTRIBUTES = ("memories/** text eol=lf", ".memfs/** -text")
"""The lines of ``.gitattributes`` that keep signed bytes what they are (TRUST 2)."""

_FILE_LIMIT = 1024 * 1024

_CONFIG = """\
# What this repository says about its memories. Everything here can only narrow what memfs does.
version: 1

# The scopes that memories may have here.
scopes:
"""

_PERSONAL_README = """\
# My memories

Small Markdown files that memfs keeps for me, and recalls for the agents that I work with. Nothing
here is anybody else's business: give this repository no public remote.

* `memfs -C {folder} remember …` records one, from anywhere.
* `memfs recall "…"` finds it, from any project.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Initialised:
    """A repository that is ready for its first commit.

    ``files`` are the contents to commit by path, not written yet; ``before`` is what each file must
    hold now, as :class:`memfs.git.commit.Change` has it. ``kept`` names what was there already.
    """

    tree: WorkTree
    fresh: bool  # git's repository was made just now
    files: dict[str, bytes] = field(default_factory=dict)
    before: dict[str, str | None] = field(default_factory=dict)
    kept: tuple[str, ...] = ()


def init_repository(path: Path | None, *, places: Places, personal: bool = False) -> Initialised:
    """Return the repository at ``path``, made where there was none, with the files that it lacks.

    A new one, or one without any commit, gets the whole template; a repository of code gets
    ``.memfs/``, ``memories/``, the agents' skill and the two lines of ``.gitattributes``. A personal one is made at
    ``path`` or in the user's data folder. Of the files nothing is written yet.

    Raises :class:`UsageError` for a place where no repository can be made (inside another one, or
    inside a git directory) and :class:`SetupError` when git has no identity to commit with.
    """
    folder = Path(os.path.abspath(path if path is not None else places.share / "personal"))
    tree = _find_root(folder, personal=personal)
    require_identity(read_identity(_existing(folder)))
    fresh = tree is None
    if tree is None:
        tree = _make_git(folder, places, private=personal)
    is_new = fresh or head_commit(tree) is None
    if personal:
        template = _personal_files(folder)
    elif is_new:
        template = _template_files()
    else:
        template = _addition_files()
    return _plan(tree, template, fresh=fresh, is_new=is_new)


def _find_root(folder: Path, *, personal: bool) -> WorkTree | None:
    try:
        tree = find_work_tree(_existing(folder))
    except NoWorkTreeError:
        return None
    if tree.git_dir is None:
        return None  # unpacked files: they become a repository where they are
    if tree.root == Path(os.path.realpath(folder)):
        return tree
    if personal:
        return None  # the home itself may be a repository; a personal one stands for itself in it
    raise UsageError(
        "lies inside another repository",
        where=printable(folder),
        hint=f"run memfs init in its root, {printable(tree.root)}, or choose a folder outside of it",
    )


def _make_git(folder: Path, places: Places, *, private: bool) -> WorkTree:
    try:
        if folder.is_relative_to(places.share):
            make_folder(places, "share")
        folder.mkdir(mode=0o700 if private else 0o777, parents=True, exist_ok=True)
    except OSError as error:
        raise SetupError(f"the folder cannot be made: {error.strerror}", where=printable(folder)) from error
    branch = user_git_setting("init.defaultBranch") or "main"
    run(
        ["git", "init", "--quiet", f"--initial-branch={branch}"],
        cwd=folder,
        env=without_git_variables(os.environ),
        timeout=60,
    )
    return find_work_tree(folder)


def _plan(tree: WorkTree, template: dict[str, bytes], *, fresh: bool, is_new: bool) -> Initialised:
    committed = {path: oid for (path, _), oid in blobs_at(tree, [(path, "HEAD") for path in template]).items()}
    files: dict[str, bytes] = {}
    before: dict[str, str | None] = {}
    kept: list[str] = []
    for path, content in template.items():
        now = read_if_there(tree, path, limit=_FILE_LIMIT)
        if path == ".gitattributes" and now is not None:
            lines = _plan_attributes(tree, now, committed[path], is_new=is_new)
            if lines is not None:
                files[path], before[path] = lines, _digest(now)
            else:
                kept.append(path)
        elif path.endswith("/.gitkeep") and now is None and (tree.root / path).parent.is_dir():
            continue
        elif committed[path] is None and now in (None, content):  # there, if a run was cut short before its commit
            files[path], before[path] = content, None
        else:
            kept.append(path)
    return Initialised(tree=tree, fresh=fresh, files=files, before=before, kept=tuple(sorted(kept)))


def _plan_attributes(tree: WorkTree, now: bytes, committed: str | None, *, is_new: bool) -> bytes | None:
    changed = _with_attributes(now)
    if is_new and committed is None:
        return changed
    if changed == now:
        return None
    algorithm = object_format(tree)
    if committed == blob_id(now, algorithm=algorithm):
        return changed
    if committed == blob_id(now.replace(b"\r\n", b"\n"), algorithm=algorithm):
        return changed.replace(b"\r\n", b"\n")  # what is committed has LF; the file keeps its CRLF
    raise UsageError(
        "has changes of yours that are not committed, and needs more lines",
        where=".gitattributes",
        hint="commit it first, then run this again",
    )


def _with_attributes(raw: bytes) -> bytes:
    """Return ``raw`` with the lines of :data:`ATTRIBUTES` that it lacks; every other byte stays."""
    lines = [line.split() for line in raw.splitlines()]
    missing = []
    for wanted in ATTRIBUTES:
        pattern, *attributes = wanted.encode().split()
        if not any(line[:1] == [pattern] and set(attributes) <= set(line[1:]) for line in lines):
            missing.append(wanted.encode())
    if not missing:
        return raw
    end = b"\r\n" if raw.count(b"\r\n") == raw.count(b"\n") > 0 else b"\n"
    start = raw if not raw or raw.endswith(b"\n") else raw + end
    return start + b"".join(line + end for line in missing)


def _template_files() -> dict[str, bytes]:
    return dict(iter_template())


def _addition_files() -> dict[str, bytes]:
    skill = {path: raw for path, raw in iter_template() if path.startswith((".agents/", ".claude/"))}
    return {**dict(_common_files("team", "team/*")), **skill}


def _personal_files(folder: Path) -> dict[str, bytes]:
    files = dict(_common_files("personal"))
    files["README.md"] = _PERSONAL_README.format(folder=printable(folder)).encode()
    return files


def _common_files(*scopes: str) -> Iterator[tuple[str, bytes]]:
    yield ".gitattributes", "".join(line + "\n" for line in ATTRIBUTES).encode()
    yield ".memfs/config.yaml", (_CONFIG + "".join(f"  - {scope}\n" for scope in scopes)).encode()
    for scope in scopes:
        if not scope.endswith("*"):
            yield f"memories/{scope}/.gitkeep", b""


def _digest(raw: bytes) -> str:
    from memfs.model.reader import content_digest

    return content_digest(raw)


def _existing(folder: Path) -> Path:
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    return folder
