"""What every surface uses: one repository opened, wired and asked. No printing, no clock, no environment.

Writing goes one way: draft → text → gate → file and commit. Reading goes one way: bytes read once →
values → state, trust and gate joined (``recall.assess``) → a surface shows it through ``render``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from memfs.errors import InvalidMemoryError, MemfsError, NotFoundError, RefusedError, UsageError
from memfs.model.codepoints import escape_hidden
from memfs.model.memory import FrontValue, MemoryFile, Origin
from memfs.model.reader import change_memory, format_memory, read_memory, require_memory
from memfs.model.scope import Caller, require_scope
from memfs.model.values import dataclass, field, replace
from memfs.store.files import read_file, scan_memories
from memfs.store.places import Places
from memfs.store.worktree import WorkTree, find_work_tree

if TYPE_CHECKING:
    from memfs.admission.gate import Decision
    from memfs.recall.assess import Assessment, Assessor
    from memfs.recall.search import Query, Result
    from memfs.render.frame import DrawNonce
    from memfs.render.views import Detail, Shown
    from memfs.store.initialise import Initialised
    from memfs.store.settings import RepositorySettings
    from memfs.trust.signing import SshSigner

REQUIRED = ("kind", "scope", "evidence", "review_trigger")
"""Fields that a person must give; ``origin`` and ``recorded`` are declared by the command."""

PROJECT = "project"
"""What the store of the working directory is called; a hit from it needs no store beside it."""

_MAX_ID_TRIES = 50
_UNKNOWN = "no memory of that id is here for this caller"


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftText:
    """What a person or an agent wants remembered, as text, before anything is checked.

    ``front`` holds the fields of the memory format except ``origin`` and ``author``: those come
    from the command's caller (ADMISSION 1).
    """

    body: str
    origin: Origin
    front: Mapping[str, FrontValue] = field(default_factory=dict)
    author: str | None = None
    id: str | None = None
    allow: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A written memory: the file as it is now, the commit that holds it, what the gate warned of."""

    file: MemoryFile
    commit: str | None
    decision: Decision
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What needs attention in a repository, for one caller."""

    assessments: tuple[Assessment, ...]
    approved: tuple[Assessment, ...]
    lost: tuple[Assessment, ...]  # were approved in another form, or by somebody who no longer can
    unapproved: tuple[Assessment, ...]
    due: tuple[Assessment, ...]
    uncommitted: tuple[str, ...]
    bad: tuple[tuple[str, str], ...]  # path, why it is no memory
    under_way: str | None
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One commit in the life of a memory. ``what`` is added, changed, moved, deleted or approval."""

    commit: str
    on: str  # ISO time with zone, as git has it
    author: str
    what: str
    path: str
    subject: str


class Repository:
    """One memory repository. Opening starts no process and reads no memory."""

    def __init__(self, tree: WorkTree, *, places: Places, today: date) -> None:
        self.tree = tree
        self.places = places
        self.today = today
        self._assessor: Assessor | None = None
        self._settings: RepositorySettings | None = None

    @property
    def settings(self) -> RepositorySettings:
        """What the repository says about itself; it can only narrow (DESIGN 4)."""
        if self._settings is None:
            from memfs.store.settings import read_repository_settings

            self._settings = read_repository_settings(self.tree)
        return self._settings

    def sees(self, caller: Caller, scope: str | None) -> bool:
        """Return whether ``caller`` may see memories of ``scope`` in this repository."""
        if self.settings.readers and caller.person is None:
            caller = replace(caller, person=next(iter(self.identities()), None))
        return self.settings.may_read(caller, scope)

    @classmethod
    def open(cls, start: Path, *, places: Places, today: date) -> Repository:
        """Return the repository that ``start`` lies in.

        Raises :class:`UsageError` where there is none, or none that can be worked in.
        """
        return cls(find_work_tree(start), places=places, today=today)

    # -- reading ---------------------------------------------------------------------------------

    def read(self, path: str) -> MemoryFile:
        """Return the file at ``path`` (relative to the work tree), read once. Never raises for what
        the file holds; raises :class:`InvalidMemoryError` where it cannot be opened safely."""
        return read_memory(path, read_file(self.tree, path))

    def files(self) -> tuple[list[MemoryFile], list[tuple[str, str]]]:
        """Return every file under ``memories/``, and (path, reason) for those that were not opened."""
        scan = scan_memories(self.tree)
        skipped = list(scan.skipped)
        found: list[MemoryFile] = []
        for entry in scan.entries:
            try:
                found.append(self.read(entry.path))
            except InvalidMemoryError as error:
                skipped.append((entry.path, error.message))
        return found, skipped

    def assess(self, file: MemoryFile) -> Assessment:
        """Return ``file`` with its state, verdict and read-time gate."""
        return self._open_assessor().assess(file)

    def assess_all(self, caller: Caller) -> tuple[list[Assessment], list[tuple[str, str]]]:
        """Return what ``caller`` may see, assessed, and (path, reason) of files that were not opened.

        The caller's scopes are applied first: a hidden memory is never assessed (ADMISSION 7).
        """
        files, skipped = self.files()
        visible = [file for file in files if self.sees(caller, scope_of(file))]
        return self._open_assessor().assess_many(visible), [
            (path, reason) for path, reason in skipped if self.sees(caller, folder_scope(path))
        ]

    def find(self, memory_id: str, caller: Caller) -> MemoryFile:
        """Return the file of ``memory_id``.

        Raises :class:`NotFoundError` with the same words whether the id is unknown or hidden.
        """
        candidates = [
            entry.path
            for entry in scan_memories(self.tree).entries
            if entry.path.rsplit("/", 1)[-1] == f"{memory_id}.md"
        ]
        seen = [self.read(path) for path in sorted(candidates) if self.sees(caller, folder_scope(path))]
        if not seen:
            raise NotFoundError(
                _UNKNOWN, where=escape_hidden(memory_id, single_line=True), hint="`memfs list` shows what there is"
            )
        return seen[0]

    def recall(self, query: Query) -> Result:
        """Return what this repository and no other knows about ``query``."""
        from memfs.recall.search import recall

        return recall([("", self.tree)], self.places, query, today=self.today)

    def history(self, memory_id: str, caller: Caller) -> list[Event]:
        """Return the commits that touched a memory or its approvals, newest first; of a deleted one too.

        Raises :class:`NotFoundError` where neither the files nor the history hold it for ``caller``.
        """
        from memfs.store.git import read_git

        raw = b""
        if self.tree.git_dir is not None:
            raw = read_git(
                self.tree,
                "log",
                "--no-show-signature",
                "--no-mailmap",
                "--encoding=UTF-8",
                "--no-renames",
                "--name-status",
                "-z",
                "--format=%x01%H%x00%aI%x00%an <%ae>%x00%s",
                "HEAD",
                "--",
                "memories",
                ".memfs/approvals",
                check=False,
            )
        events = [event for event in _parse_log(raw) if _is_about(event.path, memory_id)]
        visible = [
            event for event in events if event.what != "approval" and self.sees(caller, folder_scope(event.path))
        ]
        if not visible:
            self.find(memory_id, caller)  # known but not committed yet, or unknown and hidden alike
        hidden = {event.commit for event in events if event.what != "approval"} - {event.commit for event in visible}
        return [
            event for event in events if event in visible or (event.what == "approval" and event.commit not in hidden)
        ]

    def status(self, caller: Caller) -> Status:
        """Return what needs attention. Reads every memory that ``caller`` may see."""
        from memfs.model.memory import State
        from memfs.store.worktree import operation_under_way

        files, skipped = self.assess_all(caller)
        good = tuple(item for item in files if item.file.memory is not None)
        bad = [(item.file.path, str(item.file.problems[0])) for item in files if item.file.memory is None]
        unapproved = [item for item in good if not item.verdict.trusted]
        lost = tuple(item for item in unapproved if item.verdict.reason not in (None, "no-approval", "not-pinned"))
        return Status(
            assessments=good,
            approved=tuple(item for item in good if item.verdict.trusted),
            lost=lost,
            unapproved=tuple(item for item in unapproved if item not in lost),
            due=tuple(item for item in good if item.state.state in (State.RECHECK, State.EXPIRED)),
            uncommitted=self._uncommitted([item.file for item in files]),
            bad=(*bad, *skipped),
            under_way=operation_under_way(self.tree),
            notices=self._open_assessor().notices,
        )

    def _uncommitted(self, files: Sequence[MemoryFile]) -> tuple[str, ...]:
        """Return the paths whose bytes are not those of the last commit. Never asks git about the work tree."""
        from memfs.store.git import blob_id, blobs_at, head_commit, object_format

        if self.tree.git_dir is None or not files:
            return ()
        head = head_commit(self.tree)
        if head is None:
            return tuple(file.path for file in files)
        committed = blobs_at(self.tree, [(file.path, head) for file in files])
        algorithm = object_format(self.tree)
        return tuple(
            file.path
            for file in files
            if committed[file.path, head] != blob_id(file.raw.replace(b"\r\n", b"\n"), algorithm=algorithm)
        )

    # -- writing ---------------------------------------------------------------------------------

    def remember(self, draft: DraftText, *, dry_run: bool = False) -> Recorded:
        """Write a new memory and commit it.

        Raises :class:`InvalidMemoryError` with every missing or wrong field, :class:`RefusedError`
        when the gate rejects or holds it; nothing is written in either case.
        """
        from memfs.store.commit import ConflictError

        front = self._complete(draft)
        taken = {Path(entry.path).stem.lower() for entry in scan_memories(self.tree).entries}
        taken -= self._left_uncommitted(draft, front)
        for attempt in range(_MAX_ID_TRIES):
            memory_id = self._choose_id(draft, taken)
            path = f"memories/{front['scope']}/{memory_id}.md"
            file = self._parse(path, front, draft.body)
            message = _message(f"Remember {memory_id}", draft.allow)
            decision = self._judge(file, draft.origin, draft.allow, message=message)
            if dry_run:
                return Recorded(file=file, commit=None, decision=decision)
            try:
                commit = self._commit([(path, file.raw, None)], message)
            except ConflictError:
                if draft.id is not None or attempt == _MAX_ID_TRIES - 1:
                    raise
                taken.add(memory_id)
                continue
            return Recorded(file=file, commit=commit, decision=decision)
        raise AssertionError("unreachable: the loop returns or raises")

    def edit(
        self,
        memory_id: str,
        caller: Caller,
        *,
        changes: Mapping[str, FrontValue | None],
        body: str | None = None,
        raw: bytes | None = None,
        origin: Origin = Origin.OWNER,
        allow: Mapping[str, str] | None = None,
        dry_run: bool = False,
    ) -> Recorded:
        """Change fields or the body of a memory; all other bytes stay. A changed scope moves the file.

        ``raw`` instead is the whole new file, as an editor left it. Raises
        :class:`InvalidMemoryError`, :class:`RefusedError` and :class:`NotFoundError`; nothing is
        written then.
        """
        before = self.find(memory_id, caller)
        if raw is None:
            tied = {
                key: self._tie_all(value) if key == "evidence" and value else value for key, value in changes.items()
            }
            raw = change_memory(before, tied, body)
        file = read_memory(before.path, raw)
        scope = file.document.front.get("scope") if file.document else None
        if isinstance(scope, str) and scope != folder_scope(before.path):
            file = read_memory(f"memories/{require_scope(scope)}/{memory_id}.md", raw)
        require_memory(file)
        if raw == before.raw:
            return Recorded(file=file, commit=None, decision=self._decide(file, origin, allow or {}, message=""))
        message = _message(f"Edit {memory_id}", allow or {})
        decision = self._judge(file, origin, allow or {}, message=message)
        if dry_run:
            return Recorded(file=file, commit=None, decision=decision)
        moved = file.path != before.path
        changed: list[tuple[str, bytes | None, str | None]] = [(file.path, raw, None if moved else before.digest)]
        if moved:
            changed.append((before.path, None, before.digest))
        return Recorded(file=file, commit=self._commit(changed, message), decision=decision)

    def supersede(self, old_ids: Sequence[str], draft: DraftText, caller: Caller, *, dry_run: bool = False) -> Recorded:
        """Write a new memory that replaces ``old_ids``. The old files stay, marked by the new one."""
        for memory_id in old_ids:
            self.find(memory_id, caller)
        front = {**draft.front, "supersedes": tuple(old_ids)}
        return self.remember(replace(draft, front=front), dry_run=dry_run)

    def forget(self, memory_id: str, caller: Caller) -> str | None:
        """Delete a memory and commit that. Its approvals stay in the tree: they are the tombstone."""
        file = self.find(memory_id, caller)
        return self._commit([(file.path, None, file.digest)], f"Forget {memory_id}")

    # -- how writing is done ---------------------------------------------------------------------

    def _complete(self, draft: DraftText) -> dict[str, FrontValue]:
        """Return the front matter of a draft: declared fields added, evidence tied to a commit.

        Raises :class:`InvalidMemoryError` that names everything that is missing or wrong.
        """
        given = {key: value for key, value in draft.front.items() if value not in ("", ())}
        missing = [name for name in REQUIRED if name not in given]
        if not draft.body.strip():
            missing.insert(0, "text")
        wrong = [f"required and missing: {', '.join(missing)}"] if missing else []
        for name, check in (
            ("scope", self._require_scope_here),
            ("evidence", self._tie_all),
            ("review_trigger", _require_trigger),
        ):
            if name in given:
                try:
                    given[name] = check(given[name])
                except InvalidMemoryError as error:
                    wrong.append(f"{error}" + (f" ({error.hint})" if error.hint else ""))
        if wrong:
            raise InvalidMemoryError(
                "\n  ".join(wrong), hint="nothing was written; `memfs remember --help` explains each field"
            )
        declared: dict[str, FrontValue] = {"origin": draft.origin.value, "recorded": self.today.isoformat()}
        if draft.author:
            declared["author"] = draft.author
        return {**declared, **given, **{key: declared[key] for key in ("origin", "author") if key in declared}}

    def _require_scope_here(self, value: FrontValue) -> str:
        scope = require_scope(str(value))
        if not self.settings.allows(scope):
            raise InvalidMemoryError(
                f"this repository takes no memories of {scope}",
                where="scope",
                hint="`.memfs/config.yaml` lists its scopes",
            )
        return scope

    def _tie_all(self, evidence: FrontValue) -> tuple[str, ...]:
        return tuple(self._tie_evidence(text) for text in ((evidence,) if isinstance(evidence, str) else evidence))

    def _tie_evidence(self, text: str) -> str:
        """Return evidence whose bare PATH is tied to the commit that holds it now.

        Raises :class:`InvalidMemoryError` when PATH@COMMIT does not exist: evidence must resolve
        when it is recorded (ADMISSION 1).
        """
        from memfs.model.evidence import parse_evidence
        from memfs.model.memory import CommitEvidence, PathEvidence
        from memfs.store.git import blob_at, head_commit, read_git

        shown = escape_hidden(text, single_line=True)
        if "@" not in text and "://" not in text and (self.tree.root / text).is_file():
            head = head_commit(self.tree)
            if head is None or blob_at(self.tree, head, text) is None:
                raise InvalidMemoryError(
                    "this file is not in the last commit, so it cannot be evidence yet",
                    where=f"evidence {shown}",
                    hint="commit it first",
                )
            short = read_git(self.tree, "rev-parse", "--short=12", head).decode("ascii").strip()
            return f"{text}@{short}"
        try:
            evidence = parse_evidence(text)
        except InvalidMemoryError as error:
            raise InvalidMemoryError(error.message, where=f"evidence {shown}", hint=error.hint) from None
        if isinstance(evidence, PathEvidence) and evidence.repo is None:
            if blob_at(self.tree, evidence.commit, evidence.path) is None:
                raise InvalidMemoryError(
                    "there is no such file at that commit",
                    where=f"evidence {shown}",
                    hint="`git log -- PATH` shows the commits that hold it",
                )
        elif isinstance(evidence, CommitEvidence) and not self._has_commit(evidence.commit):
            raise InvalidMemoryError("there is no such commit", where=f"evidence {shown}")
        return text

    def _has_commit(self, name: str) -> bool:
        from memfs.store.git import call_git

        return call_git(self.tree, "cat-file", "-e", f"{name}^{{commit}}").returncode == 0

    def _left_uncommitted(self, draft: DraftText, front: Mapping[str, FrontValue]) -> set[str]:
        """Return the id under which an earlier run wrote this very draft, and could not commit it."""
        memory_id = self._choose_id(draft, ())
        path = f"memories/{front['scope']}/{memory_id}.md"
        try:
            written = read_file(self.tree, path)
        except InvalidMemoryError:
            return set()
        return {memory_id.lower()} if written == self._parse(path, front, draft.body).raw else set()

    def _choose_id(self, draft: DraftText, taken: Collection[str]) -> str:
        from memfs.model.slugs import slug_of_title

        if draft.id is None:
            title = draft.front.get("title")
            words = title if isinstance(title, str) else draft.body.strip().split("\n\n", 1)[0]
            return slug_of_title(words, taken=taken)
        if draft.id.lower() in taken:
            raise UsageError(
                "a memory of that id exists",
                where=draft.id,
                hint=f"`memfs edit {draft.id}` or `memfs supersede {draft.id}`",
            )
        return draft.id

    def _parse(self, path: str, front: Mapping[str, FrontValue], body: str) -> MemoryFile:
        """Return the memory file that these fields make, read back from its own bytes."""
        from memfs.model.frontmatter import format_document

        file = read_memory(path, format_document(front, body))
        memory = require_memory(file)
        return read_memory(path, format_memory(memory))

    def _decide(self, file: MemoryFile, origin: Origin, allow: Mapping[str, str], *, message: str) -> Decision:
        from memfs.admission.gate import Draft, judge_draft

        assert file.document is not None
        return judge_draft(
            Draft(
                fields=file.document.front,
                body=file.document.body,
                origin=origin,
                file_name=file.path,
                commit_message=message,
            ),
            identities=self.identities(),
            allow=allow,
        )

    def _judge(self, file: MemoryFile, origin: Origin, allow: Mapping[str, str], *, message: str) -> Decision:
        """Return the gate's decision on a file about to be written; raise when it is not admitted."""
        from memfs.admission.gate import Outcome

        decision = self._decide(file, origin, allow, message=message)
        if decision.outcome is Outcome.REJECT:
            raise RefusedError("admission rejected this text; nothing was written", findings=decision.findings)
        if decision.outcome is Outcome.HOLD:
            raise HeldError("admission holds this draft back; it was not recorded", findings=decision.findings)
        return decision

    def identities(self) -> tuple[str, ...]:
        """Return the addresses that are the author's own (ADMISSION 3)."""
        from memfs.store.git import author_address
        from memfs.store.settings import read_user_settings

        own = author_address(self.tree)
        return (*((own,) if own else ()), *read_user_settings(self.places).identities)

    def _commit(self, changes: Sequence[tuple[str, bytes | None, str | None]], message: str) -> str:
        from memfs.store.commit import SIGNING_TIMEOUT, Change, commit_changes
        from memfs.store.settings import read_user_settings

        return commit_changes(
            self.tree,
            [Change(path=path, content=content, before=before) for path, content, before in changes],
            message,
            signing_timeout=read_user_settings(self.places).signing_timeout or SIGNING_TIMEOUT,
        )

    def _open_assessor(self) -> Assessor:
        if self._assessor is None:
            from memfs.recall.assess import Assessor

            self._assessor = Assessor(self.tree, self.places, self.today)
        return self._assessor


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A repository that ``init`` made or completed. ``pin`` is None where it has no keyring."""

    root: Path
    files: tuple[str, ...]  # written and committed just now
    commit: str | None
    pin: str | None
    notices: tuple[str, ...] = ()


def make_repository(
    folder: Path | None,
    *,
    places: Places,
    today: date,
    environ: Mapping[str, str],
    personal: bool = False,
    key: str | None = None,
    principal: str | None = None,
    keyring: bool = True,
) -> Made:
    """Make a memory repository at ``folder``, or add what one lacks; commit it, and pin its keyring.

    ``key`` and ``principal`` name the first person of the keyring; without a key none is made and a
    notice says how. Raises :class:`UsageError` or :class:`SetupError`, and nothing is committed then.
    """
    from memfs.store.initialise import init_repository
    from memfs.store.settings import Store, add_store, read_user_settings

    signer, notices = _first_signer(places, environ, key) if keyring else (None, ())
    made = init_repository(folder, places=places, personal=personal)
    files = dict(made.files)
    pin = None
    if signer is not None and not _has_keyring(made.tree):
        from memfs.store.git import author_address
        from memfs.trust.setup import keyring_change, new_keyring

        who = principal or author_address(made.tree) or ""
        change = keyring_change(new_keyring(signer, who.lower()))
        assert change.content is not None
        files[change.path] = change.content
    commit = _commit_new_files(made, files, today)
    if _has_keyring(made.tree):
        from memfs.trust.setup import pin_repository

        if signer is not None:
            pin = pin_repository(places, made.tree, note=str(made.tree.root)).text
    if personal:
        settings = read_user_settings(places)
        if all(store.path != made.tree.root for store in settings.stores):
            add_store(places, Store(name="personal", path=made.tree.root))
    return Made(root=made.tree.root, files=tuple(sorted(files)), commit=commit, pin=pin, notices=notices)


def _first_signer(
    places: Places, environ: Mapping[str, str], key: str | None
) -> tuple[SshSigner | None, tuple[str, ...]]:
    from memfs.errors import SetupError
    from memfs.store.settings import read_user_settings
    from memfs.trust.signing import find_signing_key

    configured = read_user_settings(places).signing_key
    try:
        return find_signing_key(places=places, environ=environ, key=key, configured=configured), ()
    except SetupError as error:
        if key is not None:
            raise
        return None, (f"no keyring was made: {error.message}", f"{error.hint}; then run `memfs init` again")


def _has_keyring(tree: WorkTree) -> bool:
    return (tree.memfs / "keyring.1").exists()


def _commit_new_files(made: Initialised, files: Mapping[str, bytes], today: date) -> str | None:
    """Commit what is new. The template's examples rest on files of the first commit, so they follow in
    a second one."""
    from memfs.store.commit import Change, commit_changes
    from memfs.store.git import head_commit
    from memfs.store.shipped import fill_example

    examples = {path: raw for path, raw in files.items() if path.startswith("memories/") and path.endswith(".md")}
    first = [
        Change(path=path, content=raw, before=made.before.get(path))
        for path, raw in files.items()
        if path not in examples
    ]
    commit = commit_changes(made.tree, first, "Make this a memory repository") if first else head_commit(made.tree)
    if examples and commit is not None:
        filled = {path: fill_example(raw, commit=commit[:12], today=today) for path, raw in examples.items()}
        commit = commit_changes(
            made.tree,
            [Change(path=path, content=raw, before=made.before.get(path)) for path, raw in filled.items()],
            "Record example memories",
        )
    return commit


class HeldError(RefusedError):
    """The gate holds a draft back: it may be kept as a draft with its author, not in the repository."""


def shown_of(
    assessment: Assessment, *, store: str | None = None, score: float | None = None, notes: tuple[str, ...] = ()
) -> Shown:
    """Return what ``render`` needs of an assessed file: verdict and gate turned into words."""
    from memfs.render.views import Shown
    from memfs.render.words import trust_words

    file, verdict = assessment.file, assessment.verdict
    placeholder = None
    if file.memory is None:
        placeholder = _what_is_wrong(file)
    elif assessment.gate.outcome.value == "reject":
        rules = dict.fromkeys(finding.rule for finding in assessment.gate.findings)
        placeholder = f"admission stops it ({', '.join(rules)})"
    return Shown(
        file=file,
        state=assessment.state,
        trusted=verdict.trusted,
        trust_words=trust_words(
            trusted=verdict.trusted,
            level=verdict.level.value,
            reason=verdict.reason.value if verdict.reason else None,
            people=verdict.people,
            on=verdict.on,
        ),
        placeholder=placeholder,
        store=store,
        score=score,
        notes=notes,
    )


def _what_is_wrong(file: MemoryFile) -> str:
    """Return the fatal problems of a file in one line, fields with the same problem together."""
    fields: dict[str, list[str]] = {}
    for problem in file.problems:
        if problem.fatal:
            fields.setdefault(problem.message, []).extend([problem.field] if problem.field else [])
    said = [f"{', '.join(dict.fromkeys(names))}: {message}" if names else message for message, names in fields.items()]
    return "; ".join(said) or "not a well-formed memory"


def render_hits(
    result: Result, *, draw_nonce: DrawNonce, limit_bytes: int | None = None, detail: Detail | None = None
) -> str:
    """Return the hits of a recall in their frames, approved ones first; "" when there are none."""
    from memfs.render.views import Detail, render_bundle

    shown = [
        shown_of(hit.assessment, store=None if hit.store == PROJECT else hit.store, score=hit.score)
        for hit in result.hits
    ]
    return render_bundle(
        shown,
        draw_nonce=draw_nonce,
        limit_bytes=limit_bytes,
        left_out=result.left_out,
        detail=Detail.BRIEF if detail is None else detail,
    )


def folder_scope(path: str) -> str | None:
    """Return the scope whose folder ``path`` lies in, or None."""
    from memfs.model.scope import scope_of_path

    return scope_of_path(path)


def scope_of(file: MemoryFile) -> str | None:
    """Return the scope that decides who sees ``file``: its folder's, whatever its text says."""
    return folder_scope(file.path)


def _require_trigger(value: FrontValue) -> str:
    from memfs.model.triggers import parse_trigger

    try:
        parse_trigger(str(value))
    except InvalidMemoryError as error:
        raise InvalidMemoryError(error.message, where="review_trigger", hint=error.hint) from None
    return str(value)


def _message(subject: str, allow: Mapping[str, str]) -> str:
    """Return a commit message; a rule that was let pass stands in it with its reason (ADMISSION 2)."""
    notes = [f"Admission-Allowed: {rule} ({reason})" for rule, reason in allow.items()]
    return "\n\n".join([subject, *(["\n".join(notes)] if notes else [])])


def _is_about(path: str, memory_id: str) -> bool:
    name = path.rsplit("/", 1)[-1]
    return name == f"{memory_id}.md" or (path.startswith(".memfs/approvals/") and name.split(".")[0] == memory_id)


def _parse_log(raw: bytes) -> list[Event]:
    """Return the events of ``git log -z --name-status --format=%x01%H%x00%aI%x00%an <%ae>%x00%s``."""
    names = {"A": "added", "M": "changed", "D": "deleted", "T": "changed"}
    events: list[Event] = []
    for block in raw.decode("utf-8", "replace").split("\x01")[1:]:
        commit, on, author, subject, *rest = block.split("\x00")
        files = [part.strip("\n") for part in rest if part.strip("\n")]
        for letter, path in zip(files[::2], files[1::2], strict=False):
            what = "approval" if path.startswith(".memfs/") else names.get(letter[:1], "changed")
            events.append(Event(commit=commit, on=on, author=author, what=what, path=path, subject=subject))
    return events


class Stores:
    """Every repository that recall looks into: the project's own and those of the user's settings."""

    def __init__(
        self, stores: Sequence[tuple[str, WorkTree]], *, places: Places, today: date, notices: Sequence[str] = ()
    ) -> None:
        self.stores = tuple(stores)
        self.places = places
        self.today = today
        self.notices = tuple(notices)

    @classmethod
    def open(cls, start: Path, *, places: Places, today: date) -> Stores:
        """Return the stores as seen from ``start``. A missing or broken one costs only itself.

        Opening starts no process and reads the user's settings only.
        """
        found: list[tuple[str, WorkTree]] = []
        notices: list[str] = []
        with suppress(UsageError):  # no repository here: the user's own stores still answer
            found.append((PROJECT, find_work_tree(start)))
        if (places.config / "config.yaml").exists():
            from memfs.store.settings import read_user_settings

            try:
                settings = read_user_settings(places)
            except MemfsError as error:
                notices.append(f"your settings cannot be used: {error}")
            else:
                for store in settings.stores:
                    try:
                        tree = find_work_tree(store.path)
                    except (MemfsError, OSError) as error:
                        notices.append(f"store {store.name} is left out: {error}")
                        continue
                    if all(tree.root != other.root for _, other in found):
                        found.append((store.name, tree))
        return cls(found, places=places, today=today, notices=notices)

    def recall(self, query: Query) -> Result:
        """Return what all stores know about ``query`` in one ranking."""
        from memfs.recall.search import recall

        result = recall(self.stores, self.places, query, today=self.today)
        return replace(result, notices=(*self.notices, *result.notices))

    def repositories(self) -> list[tuple[str, Repository]]:
        """Return each store opened, with its name."""
        return [(name, Repository(tree, places=self.places, today=self.today)) for name, tree in self.stores]

    def find(self, memory_id: str, caller: Caller) -> tuple[str, Repository, MemoryFile]:
        """Return the first store that has ``memory_id`` for ``caller``; NotFoundError otherwise."""
        for name, repository in self.repositories():
            try:
                return name, repository, repository.find(memory_id, caller)
            except NotFoundError:
                continue
        raise NotFoundError(_UNKNOWN, where=escape_hidden(memory_id, single_line=True))
