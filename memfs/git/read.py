"""Reading a repository through plain git, when its files alone do not answer (TRUST 7).

A repository's own config can name programs for almost anything. Each switch and variable below
answers one way in which a plain read ran such a program, or in which a read was made to lie.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from memfs.disk import places
from memfs.disk.gitfiles import find_packed_ref, parse_head, read_small
from memfs.disk.worktree import WorkTree, read_git_config
from memfs.errors import SetupError, UsageError
from memfs.git.process import Completed, ProgramError, first_line, run
from memfs.model.codepoints import escape_hidden

READ_TIMEOUT = 30.0
"""Seconds that one reading git may take; surfaces with a deadline of their own are stricter."""

READ_SWITCHES = (
    "--no-pager",
    "--no-replace-objects",
    "--literal-pathspecs",
    "-c",
    "advice.graftFileDeprecated=false",
    "-c",
    "core.commitGraph=false",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "log.showSignature=false",
    "-c",
    "protocol.allow=never",
    "-c",
    "submodule.recurse=false",
    "-c",
    "gc.auto=0",
    "-c",
    "maintenance.auto=false",
)

_COMMIT_INDEX = re.compile(r"index\.lock|next-index-\d+\.lock")

READING = frozenset({
    "cat-file", "check-attr", "check-ref-format", "config", "diff-tree", "for-each-ref", "log", "ls-files", "ls-tree",
    "merge-base", "rev-list", "rev-parse", "show", "symbolic-ref", "var",
})  # fmt: skip
"""What a reading git may be. `status`, `diff` and `verify-commit` look at the work tree or run programs
to do it, and decide nothing here (TRUST 7)."""

_SHOWING_CHANGES = ("diff-tree", "log", "show")

_READ_VARIABLES = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}

_COMMIT_NAME = re.compile(r"[0-9a-f]{4,64}|HEAD|refs/[A-Za-z0-9._/-]+")
_BATCH_FORMAT = "%(objectname) %(objecttype) %(objectsize)"
_MAX_RESTARTS = 8
_FOUND = re.compile(rb"([0-9a-f]{40,64}) (blob|tree|commit|tag) (\d+)")


def git_environment(base: Mapping[str, str]) -> dict[str, str]:
    """Return ``base`` without any ``GIT_*`` variable and with those of TRUST 7, for reading."""
    return without_git_variables(base) | _READ_VARIABLES


def without_git_variables(base: Mapping[str, str]) -> dict[str, str]:
    """Return ``base`` without the ``GIT_*`` variables that a hook or a settings file may have set."""
    return {name: value for name, value in base.items() if not name.startswith("GIT_") and name != "LANGUAGE"}


def call_git(
    tree: WorkTree,
    *args: str,
    input: bytes | None = None,  # noqa: A002 - the name that subprocess has for it
    timeout: float = READ_TIMEOUT,
    index: Path | None = None,
) -> Completed:
    """Return how a reading ``git ARGS`` ended in ``tree``, whatever its code. ``index``: another than git's usual one.

    Raises :class:`SetupError` when git is missing, too slow, or refuses somebody else's folder.
    """
    if tree.git_dir is None:
        raise UsageError("there is no git here, only files", hint="clone the repository to see its history")
    if args[0] not in READING:
        raise ValueError(f"git {args[0]} is not for reading")
    if args[0] in _SHOWING_CHANGES:
        args = (args[0], "--no-ext-diff", "--no-textconv", *args[1:])
    environment = git_environment(os.environ)
    # git must not look further up when it does not like the .git that was found.
    environment["GIT_CEILING_DIRECTORIES"] = os.path.dirname(tree.root)
    if index is not None:
        environment["GIT_INDEX_FILE"] = str(index)

    def ask(*switches: str) -> Completed:
        argv = ["git", *READ_SWITCHES, *switches, *args]
        return run(argv, cwd=tree.root, env=environment, input=input, timeout=timeout, check=False)

    completed = ask()
    if is_refused(completed) and (listed := safe_folders()):
        completed = ask(*(part for folder in listed for part in ("-c", f"safe.directory={folder}")))
    if is_refused(completed):
        raise refuse_owner(tree.root)
    return completed


def is_refused(completed: Completed) -> bool:
    """Return whether git ended because the repository belongs to another user."""
    return completed.returncode == 128 and b"dubious ownership" in completed.stderr


def read_git(
    tree: WorkTree,
    *args: str,
    check: bool = True,
    input: bytes | None = None,  # noqa: A002 - as above
    timeout: float = READ_TIMEOUT,
    index: Path | None = None,
) -> bytes:
    """Return what a reading ``git ARGS`` printed in ``tree``.

    With ``check``, another code than 0 raises :class:`ProgramError`; without, the output is
    returned whatever the code was.
    """
    completed = call_git(tree, *args, input=input, timeout=timeout, index=index)
    if check and completed.returncode != 0:
        said = first_line(completed.stderr)
        raise ProgramError(f"git {args[0]} failed{': ' + said if said else ''}", completed=completed)
    return completed.stdout


def index_of_commit(tree: WorkTree, environ: Mapping[str, str]) -> Path | None:
    """Return the index that the commit under way is made of, where git tells its hook another than the usual one.

    `git commit -a` and `git commit PATH` make one beside it. Only a file of git's own names in this work tree's own
    git folder counts. Source: builtin/commit.c of git, prepare_index.
    """
    given = environ.get("GIT_INDEX_FILE")
    if not given or tree.git_dir is None:
        return None
    place = Path(os.path.realpath(tree.root / given))
    is_own = place.parent == Path(os.path.realpath(tree.git_dir)) and _COMMIT_INDEX.fullmatch(place.name)
    return place if is_own and place.is_file() else None


def refuse_owner(folder: Path) -> SetupError:
    """Return the error for a repository that belongs to another user of this machine."""
    import shlex

    shown = escape_hidden(shlex.quote(str(folder)), single_line=True)
    return SetupError(
        "git does not work in this folder because it belongs to another user",
        where=escape_hidden(str(folder), single_line=True),
        hint=f"if you trust its owner, run: git config --global --add safe.directory {shown}",
    )


def blob_id(raw: bytes, *, algorithm: str = "sha1") -> str:
    """Return the object name that git gives a blob of these bytes (no filter, no conversion)."""
    digest = hashlib.new(algorithm, usedforsecurity=False)
    digest.update(b"blob %d\0" % len(raw))
    digest.update(raw)
    return digest.hexdigest()


def object_format(tree: WorkTree) -> str:
    """Return ``sha1`` or ``sha256``: how this repository names its objects."""
    value = read_git_config(tree).get("extensions.objectformat")
    return "sha256" if value is not None and value.lower() == "sha256" else "sha1"


def blob_at(tree: WorkTree, commit: str, path: str) -> str | None:
    """Return the blob's name at ``path`` in ``commit``, or None where either is not known."""
    return blobs_at(tree, [(path, commit)])[(path, commit)]


def blobs_at(tree: WorkTree, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str | None]:
    """Return the blob's name for each ``(path, commit)``, in one process; None where not known.

    A commit is a hex name (4 digits or more), ``HEAD`` or a full ref. Everything is None where git
    is missing or cannot read the repository: evidence is then unverifiable, and nothing else fails.
    """
    found: dict[tuple[str, str], str | None] = dict.fromkeys(pairs)
    asked = [pair for pair in found if _COMMIT_NAME.fullmatch(pair[1]) and _is_askable(pair[0])]
    if not asked or tree.git_dir is None:
        return found
    for _ in range(_MAX_RESTARTS):
        lines = b"".join(b"%s:%s\n" % (commit.encode(), os.fsencode(path)) for path, commit in asked)
        try:
            answer = call_git(tree, "cat-file", f"--batch-check={_BATCH_FORMAT}", input=lines)
        except SetupError:
            break
        answers = answer.stdout.split(b"\n")[:-1]
        for pair, line in zip(asked, answers, strict=False):
            match = _FOUND.fullmatch(line)
            if match is not None and match.group(2) == b"blob":
                found[pair] = match.group(1).decode()
        # A question that git dies of has no answer, and costs the ones after it nothing.
        asked = asked[len(answers) + 1 :]
        if not asked:
            break
    return found


def read_blob(tree: WorkTree, oid: str, *, limit: int = 16 * 1024 * 1024) -> bytes:
    """Return the bytes of the blob ``oid``. Raises :class:`SetupError` where there is no such blob
    or it is larger than ``limit`` bytes."""
    if not re.fullmatch(r"[0-9a-f]{40}(?:[0-9a-f]{24})?", oid):
        raise SetupError("that is not a name of a git object")
    size = _FOUND.fullmatch(
        read_git(tree, "cat-file", f"--batch-check={_BATCH_FORMAT}", input=oid.encode() + b"\n").rstrip(b"\n")
    )
    if size is None or size.group(2) != b"blob":
        raise SetupError(f"the repository holds no blob {oid[:12]}")
    if int(size.group(3)) > limit:
        raise SetupError(f"blob {oid[:12]} is larger than {limit} bytes")
    return read_git(tree, "cat-file", "blob", oid)


def parse_listing(raw: bytes) -> Iterator[tuple[list[str], str]]:
    """Yield the words before the tab, and the path, of each record that ``ls-files -z`` or ``ls-tree -z`` printed."""
    for record in raw.split(b"\0"):
        facts, tab, path = record.partition(b"\t")
        if tab:
            yield facts.decode("ascii").split(), os.fsdecode(path)


def head_commit(tree: WorkTree) -> str | None:
    """Return the commit that HEAD is at, or None where there is none yet (or no git).

    Reads files; git is asked only where the refs are kept in another way (reftable).
    """
    return ref_commit(tree, "HEAD")


def ref_commit(tree: WorkTree, ref: str) -> str | None:
    """Return the object that ``HEAD`` or a full ref names, or None; read as :func:`head_commit` does."""
    if tree.git_dir is None or tree.common_dir is None:
        return None
    if not _refs_are_files(tree):
        return _ask(tree, "rev-parse", "--verify", "--quiet", "--end-of-options", ref)
    name = ref
    for _ in range(6):  # git follows five symbolic refs
        target = _read_ref(tree, name)
        if target is None or target[1] is not None:
            return None if target is None else target[1]
        name = str(target[0])
    return None


def symbolic_target(tree: WorkTree, ref: str) -> str | None:
    """Return the full ref that the symbolic ref ``ref`` names, None where it is none."""
    if tree.git_dir is None or tree.common_dir is None:
        return None
    if not _refs_are_files(tree):
        return _ask(tree, "symbolic-ref", "--quiet", ref)
    target = _read_ref(tree, ref)
    return target[0] if target is not None else None


def branch_name(tree: WorkTree) -> str | None:
    """Return the name of the branch that HEAD is on, without ``refs/heads/``; None when detached."""
    ref = symbolic_target(tree, "HEAD")
    return ref[len("refs/heads/") :] if ref is not None and ref.startswith("refs/heads/") else None


def memories_not_checked_out(tree: WorkTree) -> tuple[str, ...]:
    """Return the memory files that are in the repository and meant not to be in this work tree
    (sparse checkout, skip-worktree), sorted.

    An index of version 2 holds no such files; only another one is worth asking git about.
    """
    if not may_skip_files(tree):
        return ()
    try:
        listed = read_git(tree, "ls-files", "-z", "-t", "--", "memories").split(b"\0")
    except SetupError:
        return ()
    skipped = (os.fsdecode(record[2:]) for record in listed if record.startswith(b"S ") and record.endswith(b".md"))
    return tuple(sorted(path for path in skipped if not os.path.lexists(os.path.join(tree.root, path))))


def may_skip_files(tree: WorkTree) -> bool:
    """Return whether git's index can say of files that they are meant not to be in the work tree."""
    if tree.git_dir is None:
        return False
    index = os.path.join(tree.git_dir, "index")
    # gitformat-index(5): "DIRC", then the version; skip-worktree needs an extended flag, hence version 3.
    try:
        with open(index, "rb", opener=lambda path, flags: os.open(path, flags | os.O_NONBLOCK)) as file:
            head = file.read(8)
    except OSError:
        return False
    return head[:4] == b"DIRC" and head[4:] != b"\0\0\0\x02"


def user_git_setting(name: str) -> str | None:
    """Return a variable of the user's *global* git configuration alone, or None.

    No repository's configuration counts, no ``GIT_*`` variable and no ``$HOME``: a repository or an agent's
    settings file must not choose whose key, name or program the user goes by.
    """
    values = _git_config("/", "--global", "--includes", "--get", name, home=find_user_home())
    return values[-1] if values else None


def author_address(tree: WorkTree, configuration: Mapping[str, str | None] | None = None) -> str | None:
    """Return the e-mail address that a commit in ``tree`` would carry, or None where git has none."""
    found = read_identity(tree.root) if configuration is None else configuration
    return found.get("author.email") or found.get("user.email")


def require_identity(configuration: Mapping[str, str | None]) -> None:
    """Raise :class:`SetupError`, with the commands that help, unless git knows who commits."""
    for role in ("author", "committer"):
        for part in ("name", "email"):
            value = configuration.get(f"{role}.{part}") or configuration.get(f"user.{part}")
            if not value or not value.strip():
                raise SetupError(
                    f"git's configuration does not know your {part}, so nothing was written",
                    hint='memfs takes no GIT_ variable for it; run: git config --global user.name "Your Name"'
                    " and: git config --global user.email you@example.com",
                )


def read_identity(folder: Path) -> dict[str, str]:
    """Return what git's configuration says of who commits in ``folder``."""
    records = _git_config(folder, "--get-regexp", r"^(user|author|committer)\.(name|email)$")
    return {name: value.strip() for name, _, value in (record.partition("\n") for record in records)}


def _refs_are_files(tree: WorkTree) -> bool:
    storage = read_git_config(tree).get("extensions.refstorage")
    return (storage is None or storage.lower() == "files") and not os.path.islink(
        os.path.join(str(tree.git_dir), "HEAD")
    )


def _read_ref(tree: WorkTree, name: str) -> tuple[str | None, str | None] | None:
    own = name == "HEAD" or name.startswith(("refs/worktree/", "refs/bisect/", "refs/rewritten/"))
    folder = str(tree.git_dir if own else tree.common_dir)
    loose = read_small(os.path.join(folder, name))
    if loose is not None:
        return parse_head(loose)
    packed = read_small(os.path.join(str(tree.common_dir), "packed-refs"), limit=256 * 1024 * 1024)
    oid = None if packed is None else find_packed_ref(packed, name)
    return None if oid is None else (None, oid)


def _ask(tree: WorkTree, *args: str) -> str | None:
    try:
        completed = call_git(tree, *args)
    except SetupError:
        return None
    return completed.stdout.decode("utf-8", "replace").strip() or None if completed.returncode == 0 else None


def _is_askable(path: str) -> bool:
    # A line end would be a second question; "./" and "../" would be read from where git runs.
    return not any(char in path for char in "\n\r\0") and not any(part in ("", ".", "..") for part in path.split("/"))


def safe_folders() -> list[str]:
    """Return the folders of other users that this user's and this machine's git configuration calls safe."""
    return [
        folder
        for where in ("--system", "--global")
        for folder in _git_config("/", where, "--includes", "--get-all", "safe.directory")
        if folder
    ]


def find_user_home() -> str:
    """Return the home of the password database, where the user's own git configuration is."""
    return str(places.find_places().home)


def _git_config(folder: str | Path, *args: str, home: str | None = None) -> list[str]:
    environment = without_git_variables(os.environ) | {
        "GIT_CEILING_DIRECTORIES": os.path.dirname(os.path.abspath(folder))
    }
    if home is not None:
        environment["HOME"] = home
        environment.pop("XDG_CONFIG_HOME", None)
    completed = run(["git", "config", "--null", *args], cwd=folder, env=environment, timeout=READ_TIMEOUT, check=False)
    return completed.stdout.decode("utf-8", "replace").split("\0")[:-1] if completed.returncode == 0 else []
