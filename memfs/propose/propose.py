"""``memfs propose``: memories on a branch of their own, pushed, with a pull request.

The commit is made beside the user's work: neither work tree, index nor HEAD is touched or asked. Push
and forge tools run with the user's own settings and credentials, without the ``GIT_*`` variables that
a hook may have left, and whatever they say is shown without user names and passwords of addresses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from memfs.admission.gate import Outcome, judge_text
from memfs.check.results import Level
from memfs.check.single import look_at
from memfs.disk.worktree import WorkTree
from memfs.errors import InvalidMemoryError, MemfsError, NotFoundError, RefusedError, SetupError, UsageError
from memfs.git.commit import Change, commit_changes
from memfs.git.process import Completed, find_program, first_line, run
from memfs.git.read import blob_id, blobs_at, call_git, head_commit, object_format, without_git_variables
from memfs.git.snapshot import GitFiles, WorkFiles, merge_base, require_commit
from memfs.model.codepoints import escape_hidden, plain
from memfs.model.evidence import format_evidence
from memfs.model.memory import Memory
from memfs.model.reader import read_memory
from memfs.model.triggers import format_trigger
from memfs.model.values import dataclass, field
from memfs.propose.remote import Forge, find_main_branch, find_remote, parse_remote, show_remote
from memfs.repository.find import require_heir
from memfs.repository.writing import AGENT_TRAILER
from memfs.review.forms import in_markdown
from memfs.trust.record import read_receipt

PUSH_TIMEOUT = 180.0
FORGE_TIMEOUT = 90.0
_MAX_BRANCHES = 50
_CREDENTIALS = re.compile(r"(?<=://)[^/\s@]*@")
_WEB = re.compile(r"https?://[^\s<>\"']+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is proposed and to whom. ``new`` are files that the work tree does not have (path → bytes)."""

    ids: tuple[str, ...] = ()
    sees: Callable[[str], bool] | None = None  # the paths that the proposer sees; None: every path
    new: Mapping[str, bytes] = field(default_factory=dict)
    branch: str | None = None
    base: str | None = None  # a branch of the remote; None: its main branch
    remote: str | None = None
    update: bool = False  # add to a branch that is there already
    title: str | None = None
    draft: bool = False
    agent: str | None = None  # the agent that writes it, for the commit's trailer
    push: bool = True  # False: the branch alone, which may start at one of this clone


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A branch with its commit, not pushed yet."""

    branch: str
    commit: str
    base: str  # the name of the branch that it is proposed to
    start: str
    remote: str | None
    url: str | None
    base_url: str | None  # of the remote that it is proposed to; another than ``url`` for a fork
    paths: tuple[str, ...]
    title: str
    body: str
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """What came of the push. ``request`` is the pull request's address, ``address`` the page that opens one."""

    request: str | None = None
    address: str | None = None
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What would be committed, and where. Nothing has been written."""

    files: Mapping[str, bytes | None]  # path → content; None: deleted
    stem: str  # the branch's name without a number
    branches: tuple[str, ...]  # the names to try, best first
    base: str  # as this clone knows it, for instance "origin/main"
    start: str
    remote: str | None
    url: str | None
    title: str
    body: str
    notices: tuple[str, ...] = ()


def plan(tree: WorkTree, wanted: Wanted, *, identities: Sequence[str] = ()) -> Plan:
    """Return what :func:`prepare` would do. Raises what it raises, except where a branch is taken."""
    remote, url, notices = _find_remote(tree, wanted)
    base = _find_base(tree, wanted, remote)
    start = require_commit(tree, base)
    files = _collect(tree, wanted, GitFiles(tree, start))
    if not files:
        hint = "change it first, or name another one" if wanted.ids else "name the memories: memfs propose ID"
        raise UsageError(f"there is nothing to propose: {plain(base)} has all of it", hint=hint)
    ids = sorted({_id_of(path) for path in files if path.startswith("memories/")})
    _require_sound(files, identities)
    _require_admitted(wanted)
    memories = [
        memory
        for path, raw in files.items()
        if raw is not None and path.startswith("memories/") and (memory := read_memory(path, raw).memory) is not None
    ]
    for memory in memories:
        if memory.path not in wanted.new:  # what was asked when it was written is not asked again
            require_heir(tree, memory.scope, memory.supersedes, lambda _path: True)
    return Plan(
        files=dict(sorted(files.items())),
        stem=_stem(wanted, ids),
        branches=tuple(_branch_names(tree, wanted, ids)),
        base=base,
        start=start,
        remote=remote,
        url=url,
        title=wanted.title or _title_of(ids, memories),
        body=describe(memories, [path for path, raw in files.items() if raw is None]),
        notices=tuple(notices),
    )


def prepare(tree: WorkTree, wanted: Wanted, *, identities: Sequence[str] = ()) -> Prepared:
    """Make the commit and return it. Nothing of the user's work is touched.

    What is on a branch of its own already, exactly so, is not committed again. Raises
    :class:`NotFoundError` for an id that is not here, :class:`InvalidMemoryError` for a memory that
    `memfs check` would call an error, :class:`RefusedError` for a title or branch that admission
    rejects, :class:`UsageError` where there is nothing to propose or the branch is there already.
    """
    planned = plan(tree, wanted, identities=identities)
    notices = list(planned.notices)
    branch = None if wanted.update else _find_proposed(tree, planned)
    if branch is not None:
        commit = require_commit(tree, f"refs/heads/{branch}")
        notices.append(f"it is proposed already, exactly so, on {branch}")
    else:
        branch, commit = _commit(tree, planned, wanted)
    base_url = _base_url(tree, planned.base)
    return Prepared(
        branch=branch,
        commit=commit,
        base=planned.base.partition("/")[2] if base_url is not None else planned.base,
        start=planned.start,
        remote=planned.remote,
        url=planned.url,
        base_url=base_url or planned.url,
        paths=tuple(planned.files),
        title=planned.title,
        body=planned.body,
        notices=tuple(notices),
    )


def _commit(tree: WorkTree, planned: Plan, wanted: Wanted) -> tuple[str, str]:
    """Return the branch that could be had, and the commit that was made on it."""
    changes = [Change(path=path, content=raw, before=...) for path, raw in planned.files.items()]
    message = f"{planned.title}\n\n{AGENT_TRAILER}: {wanted.agent}\n" if wanted.agent else planned.title
    if wanted.update:
        branch = planned.branches[0]
        begin = _require_branch(tree, branch, planned.remote)
        return branch, commit_changes(tree, changes, message, branch=branch, start=begin)
    for branch in planned.branches:
        try:
            return branch, commit_changes(tree, changes, message, branch=branch, start=planned.start)
        except UsageError:
            # Somebody else, perhaps another agent, made a branch of this name in between.
            if wanted.branch is not None:
                raise
    raise UsageError("there are many branches for this memory already", hint="name one with --branch")


def _find_proposed(tree: WorkTree, planned: Plan) -> str | None:
    """Return the branch of ours that contains every file of the plan as it is, where there is one."""
    stem = planned.stem
    raw = call_git(tree, "for-each-ref", "--format=%(refname)", f"refs/heads/{stem}*").stdout
    names = [ref.removeprefix("refs/heads/") for ref in raw.decode("utf-8", "replace").split("\n")]
    names = [name for name in names if name and re.fullmatch(rf"{re.escape(stem)}(?:-\d+)?", name)]
    pairs = [(path, f"refs/heads/{name}") for name in names for path in planned.files]
    there = blobs_at(tree, pairs) if pairs else {}
    algorithm = object_format(tree)
    wanted = {path: None if raw is None else blob_id(raw, algorithm=algorithm) for path, raw in planned.files.items()}
    for name in names:
        if all(there[path, f"refs/heads/{name}"] == blob for path, blob in wanted.items()):
            return name
    return None


def push(tree: WorkTree, prepared: Prepared, *, environ: Mapping[str, str], interactive: bool) -> None:
    """Push the branch with git as the user has it set up.

    Raises :class:`SetupError` with what git said, without any credential.
    """
    if prepared.remote is None:
        raise SetupError("this clone has no remote to push to", hint="git remote add origin ADDRESS, or use --no-push")
    environment = _environment(environ, interactive=interactive)
    ref = f"refs/heads/{prepared.branch}"
    done = run(
        ["git", "push", "--porcelain", "--", prepared.remote, f"{ref}:{ref}"],
        cwd=tree.root,
        env=environment,
        timeout=PUSH_TIMEOUT,
        check=False,
        terminal=interactive,
    )
    if done.returncode != 0:
        raise SetupError(
            f"git could not push: {_said(done)}",
            where=show_remote(prepared.url or prepared.remote),
            hint=f"the commit is on the branch {prepared.branch}; when the cause is mended: git push "
            f"{prepared.remote} {prepared.branch}",
        )


def open_request(
    tree: WorkTree, prepared: Prepared, wanted: Wanted, *, environ: Mapping[str, str], interactive: bool
) -> Opened:
    """Open a pull request with ``gh`` or ``glab`` where it is installed, else return the page to open."""
    forge, fork = parse_remote(prepared.base_url or ""), parse_remote(prepared.url or "")
    if forge is None or fork is None:
        return Opened(notices=("memfs does not know the forge of this remote; open the pull request there by hand",))
    head = prepared.branch
    if fork.project != forge.project:
        if forge.kind != "github":  # the fork's own page lets one choose where to
            return Opened(address=fork.address(prepared.branch, prepared.base))
        head = f"{fork.project.split('/')[0]}:{prepared.branch}"
    address = forge.address(head, prepared.base)
    tool = {"github": "gh", "gitlab": "glab"}.get(forge.kind)
    environment = _environment(environ, interactive=interactive)
    if tool is None or find_program(tool, environment.get("PATH")) is None:
        return Opened(address=address)
    argv = _request_command(tool, forge, prepared, wanted, head)
    try:
        done = run(
            argv,
            cwd=tree.root,
            env=environment,
            input=prepared.body.encode() if tool == "gh" else None,
            timeout=FORGE_TIMEOUT,
            check=False,
        )
    except MemfsError as error:
        return Opened(address=address, notices=(f"{tool} did not answer: {error}",))
    found = _find_address(done, forge)
    if done.returncode == 0 or (found is not None and "already exists" in _text(done)):
        return Opened(request=found, address=address)
    return Opened(address=address, notices=(f"{tool} could not open it: {_said(done)}",))


def describe(memories: Sequence[Memory], removed: Sequence[str]) -> str:
    """Return the text of a pull request: for each memory the three questions of its review."""
    lines: list[str] = []
    for memory in memories:
        lines += [f"### `{memory.id}`", "", _quoted(memory.statement), ""]
        lasts = f"until {memory.expires.isoformat()}" if memory.expires else "no end"
        lines += [
            f"- **Is it durable?** {memory.kind.value}, {lasts}; looked at again "
            f"{in_markdown(format_trigger(memory.review_trigger))}.",
            "- **What does it rest on?** "
            + "; ".join(in_markdown(format_evidence(piece)) for piece in memory.evidence),
            f"- **Who may see it?** {in_markdown(memory.scope)}; written by "
            f"{'a person' if memory.origin.value == 'owner' else f'origin {memory.origin.value}'}.",
        ]
        if memory.supersedes:
            lines.append("- Replaces " + ", ".join(in_markdown(old) for old in memory.supersedes) + ".")
        lines.append("")
    lines += [f"- Removes {in_markdown(path)}" for path in removed if path.startswith("memories/")]
    return "\n".join(lines).strip() + "\n"


# -- what is proposed --------------------------------------------------------------------------------


def _find_remote(tree: WorkTree, wanted: Wanted) -> tuple[str | None, str | None, list[str]]:
    try:
        name, url = find_remote(tree, wanted.remote)
        return name, url, []
    except SetupError as error:
        if wanted.remote is not None:
            raise
        return None, None, [error.message]


def _find_base(tree: WorkTree, wanted: Wanted, remote: str | None) -> str:
    """Return the branch to propose to: that of ``upstream`` or ``origin``, also for a push to a fork."""
    if wanted.base is not None and "/" in wanted.base:
        return wanted.base
    found = find_main_branch(tree) or find_main_branch(tree, remote)
    if wanted.base is not None:
        named = f"{found.partition('/')[0]}/{wanted.base}" if found and _base_url(tree, found) is not None else ""
        exists = call_git(tree, "rev-parse", "--verify", "--quiet", f"refs/remotes/{named}").returncode == 0
        return named if named and exists else wanted.base
    if found is None:
        raise UsageError("it is not clear what to propose to", hint="name the branch with --base")
    if remote is not None and wanted.push and _base_url(tree, found) is None:
        raise UsageError(
            f"this clone knows no main branch of {plain(remote)}",
            hint=f"git fetch {plain(remote)}, or for a new one: git push -u {plain(remote)} {plain(found)}",
        )
    return found


def _base_url(tree: WorkTree, base_ref: str) -> str | None:
    """Return the address of the remote that ``REMOTE/BRANCH`` is of; None for a branch of this clone."""
    name, slash, _ = base_ref.partition("/")
    if not slash:
        return None
    done = call_git(tree, "config", "--get", f"remote.{name}.url")
    return done.stdout.decode("utf-8", "replace").strip() or None if done.returncode == 0 else None


def _collect(tree: WorkTree, wanted: Wanted, base: GitFiles) -> dict[str, bytes | None]:
    """Return path → content (None: deleted) of everything that differs from the base and is wanted."""
    here = WorkFiles(tree)
    sizes, old = (
        {path: size for path, size in found.items() if wanted.sees is None or wanted.sees(path)}
        for found in (here.memories()[0], base.memories()[0])
    )
    files: dict[str, bytes | None] = dict(wanted.new)
    chosen = set(wanted.ids)
    if not chosen and not wanted.new:
        chosen = {_id_of(path) for path in sizes} | {_id_of(path) for path in old if path not in sizes}
    fork = _fork_of(tree, base)
    for memory_id in sorted(chosen):
        mine = [path for path in sizes if _id_of(path) == memory_id]
        theirs = [path for path in old if _id_of(path) == memory_id]
        if memory_id in wanted.ids and not mine and not theirs:
            raise NotFoundError(
                "no memory of that id is here", where=plain(memory_id), hint="`memfs list` shows what there is"
            )
        for path, raw in here.read_many(mine):
            if not isinstance(raw, bytes):
                raise InvalidMemoryError(f"cannot be read: {raw}", where=plain(path))
            blob, before = base.blob_of(path), fork.blob_of(path) if fork is not None else None
            if here.blob_of(path, like=blob) == blob or (before and here.blob_of(path, like=before) == before):
                continue  # there already, or only the base has changed it
            if before is not None and blob != before:
                raise UsageError(
                    "the branch that you propose to has changed this memory too",
                    where=plain(path),
                    hint=f"`git pull` brings it here; `memfs edit --merge {plain(memory_id)}` helps with a conflict",
                )
            files[path] = raw.replace(b"\r\n", b"\n")
        if memory_id in wanted.ids or mine:
            files.update({path: None for path in theirs if path not in mine})
    ids = {_id_of(path) for path in files}
    files.update(_receipts(here, base, ids))
    return files


def _fork_of(tree: WorkTree, base: GitFiles) -> GitFiles | None:
    """Return the files where this work tree's history and the base's parted."""
    head = head_commit(tree)
    fork = merge_base(tree, base.commit or "", head) if head is not None else None
    return GitFiles(tree, fork) if fork is not None else None


def _receipts(here: WorkFiles, base: GitFiles, ids: set[str]) -> dict[str, bytes | None]:
    """Return the receipts of these ids that the base does not have: approvals travel with their memory."""
    names = [f".memfs/approvals/{name}" for name in here.folder(".memfs/approvals")]
    found: dict[str, bytes | None] = {}
    for path, raw in here.read_many(path for path in names if base.blob_of(path) is None):
        record = read_receipt(path.rsplit("/", 1)[-1], raw) if isinstance(raw, bytes) else None
        if record is not None and any(item.id in ids for item in record.statement.items):
            found[path] = raw if isinstance(raw, bytes) else None
    return found


def _require_sound(files: Mapping[str, bytes | None], identities: Sequence[str]) -> None:
    folded = {address.casefold() for address in identities}
    for path, raw in files.items():
        if raw is None or not path.startswith("memories/"):
            continue
        errors = [r for r in look_at(path, raw, identities=folded).results if r.level is Level.ERROR]
        if errors:
            place = f"{plain(path)}:{errors[0].line}" if errors[0].line else plain(path)
            raise InvalidMemoryError(
                errors[0].message, where=place, hint="`memfs check` shows everything that is wrong"
            )


def _require_admitted(wanted: Wanted) -> None:
    """Raise :class:`RefusedError` when what becomes a commit message or a branch's name is rejected."""
    for field_name, text in (("title", wanted.title), ("branch", wanted.branch)):
        decision = judge_text(text or "", field=field_name)
        if decision.outcome is Outcome.REJECT:
            raise RefusedError(f"admission rejected the {field_name}; nothing was written", findings=decision.findings)


def _stem(wanted: Wanted, ids: Sequence[str]) -> str:
    if wanted.branch is not None:
        return wanted.branch
    return f"memory/{ids[0]}" if len(ids) == 1 else f"memory/{ids[0]}-and-{len(ids) - 1}-more"


def _branch_names(tree: WorkTree, wanted: Wanted, ids: Sequence[str]) -> list[str]:
    if wanted.branch is not None:
        valid = call_git(tree, "check-ref-format", "--branch", wanted.branch).returncode == 0
        if not valid or wanted.branch.startswith("-"):
            raise UsageError("that is not the name of a branch", where=plain(wanted.branch))
        return [wanted.branch]
    stem = _stem(wanted, ids)
    if wanted.update:
        return [stem]
    names = [stem, *(f"{stem}-{number}" for number in range(2, _MAX_BRANCHES))]
    taken = set(call_git(tree, "for-each-ref", "--format=%(refname)").stdout.decode("utf-8", "replace").split("\n"))
    return [
        name
        for name in names
        if f"refs/heads/{name}" not in taken and not any(r.endswith(f"/{name}") and "remotes" in r for r in taken)
    ]


def _require_branch(tree: WorkTree, branch: str, remote: str | None) -> str | None:
    """Return where the branch begins that is to be added to: None when it is here already.

    Raises :class:`UsageError` where neither this clone nor the remote has it.
    """
    if call_git(tree, "rev-parse", "--verify", "--quiet", f"refs/heads/{branch}").returncode == 0:
        return None
    if remote is not None:
        done = call_git(tree, "rev-parse", "--verify", "--quiet", f"refs/remotes/{remote}/{branch}")
        if done.returncode == 0:
            return done.stdout.decode("ascii", "replace").strip()
    raise UsageError(
        "no branch is here to add to", where=plain(branch), hint="leave --update out, or name it with --branch"
    )


def _id_of(path: str) -> str:
    return path.rsplit("/", 1)[-1].removesuffix(".md")


def _title_of(ids: Sequence[str], memories: Sequence[Memory]) -> str:
    if len(ids) == 1:
        verb = "Propose" if memories else "Remove"
        return f"{verb} {ids[0]}"
    return f"Propose {len(ids)} memories"


def _quoted(statement: str) -> str:
    """Return a statement as a Markdown block in which nothing has a meaning."""
    text = escape_hidden(statement)
    ticks = "`" * max(3, 1 + max((len(found) for found in re.findall(r"`+", text)), default=0))
    return f"{ticks}text\n{text}\n{ticks}"


# -- the forge ---------------------------------------------------------------------------------------


def _request_command(tool: str, forge: Forge, prepared: Prepared, wanted: Wanted, head: str) -> list[str]:
    repository = forge.project if forge.host in ("github.com", "gitlab.com") else f"{forge.host}/{forge.project}"
    if tool == "gh":
        argv = ["gh", "pr", "create", "--repo", repository, "--head", head, "--base", prepared.base]
        argv += ["--title", prepared.title, "--body-file", "-"]
    else:
        argv = ["glab", "mr", "create", "--repo", repository, "--source-branch", prepared.branch]
        argv += ["--target-branch", prepared.base, "--title", prepared.title, "--description", prepared.body, "--yes"]
    return [*argv, "--draft"] if wanted.draft else argv


def _environment(environ: Mapping[str, str], *, interactive: bool) -> dict[str, str]:
    environment = without_git_variables(environ)
    if not interactive:
        environment |= {"GIT_TERMINAL_PROMPT": "0", "GH_PROMPT_DISABLED": "1", "SSH_ASKPASS_REQUIRE": "never"}
    return environment


def _find_address(done: Completed, forge: Forge) -> str | None:
    """Return the address that a forge's tool printed: the last one that is on the forge's own host."""
    host = forge.host.split(":")[0]
    for found in reversed(_WEB.findall(_text(done))):
        address = _CREDENTIALS.sub("", found).rstrip(".,;)")
        rest = address.split("://", 1)[1]
        if rest.split("/", 1)[0].split(":")[0] == host:
            return plain(address, limit=300)
    return None


def _text(done: Completed) -> str:
    return (done.stdout + b"\n" + done.stderr).decode("utf-8", "replace")


def _said(done: Completed) -> str:
    lines = [line for line in done.stderr.split(b"\n") if not line.startswith((b"To ", b"hint:"))]
    telling = next((line for line in lines if line.startswith((b"fatal:", b"error:", b"!", b"remote: "))), b"")
    text = first_line(telling or b"\n".join(lines)) or first_line(done.stdout) or f"it ended with {done.returncode}"
    return _CREDENTIALS.sub("", text)
