"""Remotes and forges: which branch is the main one, where a remote's pages are, without ever showing
a credential that somebody left in an address."""

from __future__ import annotations

import re
from urllib.parse import quote, urlsplit

from memfs.disk.worktree import WorkTree
from memfs.errors import SetupError
from memfs.git.branches import find_main_ref
from memfs.git.read import call_git
from memfs.model.codepoints import plain
from memfs.model.values import dataclass

_SCP = re.compile(r"(?:[^@/:\s]+@)?([A-Za-z0-9.-]+):(?!//)([^\s]+)")
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")
_PART = re.compile(r"[A-Za-z0-9_~][A-Za-z0-9._~-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Forge:
    """Where a remote's pages are. ``kind`` is ``github``, ``gitlab`` or ``other``."""

    kind: str
    host: str
    project: str  # "owner/name", more parts on GitLab

    def address(self, branch: str, base: str) -> str | None:
        """Return the page that opens a pull request of ``branch`` onto ``base``."""
        site = f"https://{self.host}/{self.project}"
        if self.kind == "github":
            return f"{site}/compare/{quote(base, safe='')}...{quote(branch, safe='')}?expand=1"
        if self.kind == "gitlab":
            source, target = quote(branch, safe=""), quote(base, safe="")
            return (
                f"{site}/-/merge_requests/new?merge_request%5Bsource_branch%5D={source}"
                f"&merge_request%5Btarget_branch%5D={target}"
            )
        return None

    def file_address(self, path: str, branch: str) -> str | None:
        """Return the page of a file as a branch has it."""
        return self._page("blob", f"{quote(branch)}/{quote(path)}")

    def commit_address(self, name: str) -> str | None:
        """Return the page of a commit."""
        return self._page("commit", quote(name))

    def _page(self, kind: str, rest: str) -> str | None:
        between = {"github": "", "gitlab": "-/"}.get(self.kind)
        return None if between is None else f"https://{self.host}/{self.project}/{between}{kind}/{rest}"


def parse_remote(url: str) -> Forge | None:
    """Return the forge that a remote's address names; None for a path, or anything that is not plainly
    a host and a project. User names and passwords in it are left behind."""
    if "://" in url:
        try:
            parts = urlsplit(url)
            host, path = parts.hostname or "", parts.path
            port = parts.port if parts.scheme in ("http", "https") else None
        except ValueError:
            return None
        if parts.scheme not in ("https", "http", "ssh", "git") or not _HOST.fullmatch(host):
            return None
        shown = f"{host}:{port}" if port else host
    elif found := _SCP.fullmatch(url):
        host, path = found[1], found[2]
        shown = host
        if len(host) == 1 or not _HOST.fullmatch(host):  # C:/somewhere
            return None
    else:
        return None
    project = path.strip("/").removesuffix(".git")
    names = project.split("/")
    if len(names) < 2 or not all(_PART.fullmatch(name) for name in names):
        return None
    lowered = host.lower()
    kind = "github" if "github" in lowered.split(".") else "gitlab" if "gitlab" in lowered.split(".") else "other"
    return Forge(kind=kind, host=shown, project=project)


def show_remote(url: str) -> str:
    """Return a remote's address for a message: without user name, password, query or fragment."""
    if "://" in url:
        scheme, _, rest = url.partition("://")
        authority, slash, path = rest.partition("/")
        return plain(f"{scheme}://{authority.rpartition('@')[2]}{slash}{re.split('[?#]', path)[0]}", limit=200)
    if "@" in url.split("/", maxsplit=1)[0]:
        return plain(url.partition("@")[2], limit=200)
    return plain(url, limit=200)


def find_main_branch(tree: WorkTree, remote: str | None = None) -> str | None:
    """Return the branch that changes are proposed to: the remote's own, as this clone knows it, else
    a local one (:func:`memfs.git.branches.find_main_ref`)."""
    ref = find_main_ref(tree, remote)
    return None if ref is None else ref.removeprefix("refs/remotes/").removeprefix("refs/heads/")


def find_remote(tree: WorkTree, name: str | None = None) -> tuple[str, str]:
    """Return name and address of the remote to push to: ``name``, else ``origin``, else the only one.

    Raises :class:`SetupError` where that is not clear.
    """
    done = call_git(tree, "config", "--get-regexp", "--null", r"^remote\..*\.url$")
    found: dict[str, str] = {}
    for entry in done.stdout.decode("utf-8", "replace").split("\0"):
        key, _, url = entry.partition("\n")
        if key:
            found.setdefault(key.removeprefix("remote.").removesuffix(".url"), url)
    if name is None:
        name = "origin" if "origin" in found else next(iter(found)) if len(found) == 1 else None
    if name is None or name not in found:
        what = f"this clone has no remote {plain(name)}" if name else "it is not clear which remote to push to"
        raise SetupError(what, hint="name one with --remote, or add it: git remote add origin ADDRESS")
    return name, found[name]
