"""The checked-out branch and its upstream: is it the team's main one, can it be put back, and bringing both together.

Git does it with the user's own settings and credentials, without hooks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memfs.disk.worktree import WorkTree, operation_under_way, printable
from memfs.errors import SetupError, UsageError
from memfs.git.process import Completed, first_line, run
from memfs.git.read import blobs_at, branch_name, call_git, without_git_variables
from memfs.git.snapshot import merge_base
from memfs.model.codepoints import plain
from memfs.model.values import dataclass
from memfs.propose.remote import find_main_branch, find_remote
from memfs.trust.keyring import KeyringError
from memfs.trust.pinning import read_chain

TIMEOUT = 180.0
_OWN = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false")


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """The branch that is checked out, and the branch of a remote that it follows."""

    branch: str
    name: str  # "origin/main"
    is_main: bool  # whether changes of the whole team arrive there


@dataclass(frozen=True, slots=True, kw_only=True)
class Synced:
    """How many commits came and went."""

    received: int
    sent: int
    remote: str


def find_upstream(tree: WorkTree) -> Upstream | None:
    """Return the checked-out branch and its upstream; None where there is none on a remote."""
    branch = branch_name(tree)
    if tree.git_dir is None or branch is None:
        return None
    ref = _line(call_git(tree, "rev-parse", "--symbolic-full-name", "@{upstream}"))
    name = ref.removeprefix("refs/remotes/")
    if name == ref:
        return None
    return Upstream(branch=branch, name=name, is_main=find_main_branch(tree) == name)


def is_shared(tree: WorkTree) -> bool:
    """Return whether the keyring here lists more than one person."""
    try:
        keyring = read_chain(tree).keyring
    except KeyringError:
        return False
    return len({key.principal for key in keyring.keys}) > 1


def can_be_put_back(
    tree: WorkTree, upstream: Upstream, commit: str, paths: Sequence[str], *, environ: Mapping[str, str]
) -> int:
    """Return how many commits the branch is ahead by, where all of them are on ``commit`` too: they change nothing
    but ``paths``, which ``commit`` has as HEAD has them. 0 where the branch is not ahead, or something else is lost."""
    base = merge_base(tree, f"refs/remotes/{upstream.name}", "HEAD")
    if base is None:
        return 0
    done = call_git(tree, "diff-tree", "-r", "-z", "--name-only", base, "HEAD")
    changed = {path for path in done.stdout.decode("utf-8", "surrogateescape").split("\0") if path}
    if done.returncode != 0 or not changed or not changed <= set(paths) or operation_under_way(tree):
        return 0
    there = blobs_at(tree, [(path, start) for path in paths for start in (commit, "HEAD")])
    if any(there[path, commit] != there[path, "HEAD"] for path in paths):
        return 0
    if _git(tree, environ, "diff-index", "--cached", "--quiet", "HEAD").returncode != 0:
        return 0
    return int(_line(call_git(tree, "rev-list", "--count", f"{upstream.name}..HEAD")) or 0)


def put_back(tree: WorkTree, upstream: Upstream, *, environ: Mapping[str, str]) -> None:
    """Put the checked-out branch where its upstream is. Files that were changed since stay, or nothing is done.

    Raises :class:`SetupError` with what git said.
    """
    _git(tree, environ, "update-index", "-q", "--refresh")
    done = _git(tree, environ, "reset", "--quiet", "--keep", upstream.name)
    if done.returncode != 0:
        raise SetupError(f"git did not put {plain(upstream.branch)} back: {_said(done)}", hint="git status")


def sync(tree: WorkTree, *, environ: Mapping[str, str], interactive: bool) -> Synced:
    """Bring what is new on the remote here, put one's own commits on top, and push them.

    Raises :class:`UsageError` where both sides changed the same, or something is under way here; then nothing has
    changed. Raises :class:`SetupError` where there is no remote, or git refuses.
    """
    branch = branch_name(tree)
    operation = operation_under_way(tree)
    if branch is None or operation is not None:
        raise UsageError(
            f"{operation or 'a detached HEAD'} is here, so nothing was synced",
            where=printable(tree.root),
            hint="git status says how to finish it",
        )
    remote, _ = find_remote(tree, _line(call_git(tree, "config", "--get", f"branch.{branch}.remote")) or None)
    _do(tree, environ, "git could not fetch", "fetch", "--quiet", "--", remote, interactive=interactive)
    upstream = find_upstream(tree)
    name = upstream.name if upstream is not None else f"{remote}/{branch}"
    if not _line(call_git(tree, "rev-parse", "--verify", "--quiet", f"refs/remotes/{name}")):
        sent = int(_line(call_git(tree, "rev-list", "--count", "HEAD")) or 0)
        _push(tree, environ, remote, branch, branch, interactive=interactive)
        return Synced(received=0, sent=sent, remote=remote)
    counted = _line(call_git(tree, "rev-list", "--left-right", "--count", f"HEAD...refs/remotes/{name}"))
    ahead, _, behind = counted.partition("\t")
    if int(behind):
        _rebase(tree, environ, name)
    if int(ahead):
        _push(tree, environ, remote, branch, name.removeprefix(f"{remote}/"), interactive=interactive)
    return Synced(received=int(behind), sent=int(ahead), remote=remote)


def _rebase(tree: WorkTree, environ: Mapping[str, str], name: str) -> None:
    done = _git(tree, environ, "rebase", "--quiet", f"refs/remotes/{name}")
    if done.returncode == 0:
        return
    if operation_under_way(tree) is None:
        raise SetupError(f"git could not rebase: {_said(done)}", hint="commit what is changed here, then sync again")
    _git(tree, environ, "rebase", "--abort")
    raise UsageError(
        "both sides changed the same memory; nothing was changed here",
        where=printable(tree.root),
        hint="git pull --rebase, then `memfs edit --merge ID`, git rebase --continue, and sync again",
    )


def _push(tree: WorkTree, environ: Mapping[str, str], remote: str, branch: str, to: str, *, interactive: bool) -> None:
    refs = f"refs/heads/{branch}:refs/heads/{to}"
    arguments = ("push", "--quiet", "--set-upstream", "--", remote, refs)
    _do(tree, environ, "git could not push", *arguments, interactive=interactive)


def _do(tree: WorkTree, environ: Mapping[str, str], what: str, *arguments: str, interactive: bool) -> None:
    done = _git(tree, environ, *arguments, interactive=interactive)
    if done.returncode != 0:
        raise SetupError(f"{what}: {_said(done)}", hint="try again when the cause is mended")


def _git(tree: WorkTree, environ: Mapping[str, str], *arguments: str, interactive: bool = False) -> Completed:
    environment = without_git_variables(environ)
    if not interactive:
        environment |= {"GIT_TERMINAL_PROMPT": "0", "SSH_ASKPASS_REQUIRE": "never"}
    argv = ["git", *_OWN, *arguments]
    return run(argv, cwd=tree.root, env=environment, timeout=TIMEOUT, check=False, terminal=interactive)


def _line(done: Completed) -> str:
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else ""


def _said(done: Completed) -> str:
    return plain(first_line(done.stderr) or f"it ended with {done.returncode}", limit=300)
