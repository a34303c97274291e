"""Writing memories: draft → gate → text → file and commit, one way for every surface.

Nothing is written before everything is right; a refusal names all that is wrong and changes nothing. The gate
looks once, at all that was given, before anything else does: a value that is rejected must not reach an error
message, a child process or a temporary file either (ADMISSION 1).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from memfs.admission.gate import Draft, Outcome, Severity, judge_draft, judge_text
from memfs.admission.rules import Family
from memfs.disk.files import read_file, scan_memories
from memfs.disk.places import Places
from memfs.disk.settings import RepositorySettings, read_user_settings
from memfs.disk.shipped import read_schema
from memfs.disk.worktree import WorkTree, printable
from memfs.errors import InvalidMemoryError, RefusedError, UsageError
from memfs.git.commit import SIGNING_TIMEOUT, Change, ConflictError, commit_changes
from memfs.git.uncommitted import write_uncommitted
from memfs.model.memory import FrontValue, Memory, MemoryFile, Origin
from memfs.model.reader import change_memory, make_memory, read_memory, require_memory
from memfs.model.schema import check_front
from memfs.model.scope import Caller, scope_of_path
from memfs.model.slugs import MAX_WORDS, is_id, slug_of_title
from memfs.model.values import dataclass, replace
from memfs.repository.draft import ONE_COMMIT, Commit, DraftText, HeldError, Recorded, TwiceError
from memfs.repository.fields import Fields
from memfs.repository.find import require_heir
from memfs.repository.may_write import require_agents_welcome
from memfs.repository.similar import find_similar
from memfs.sight import OWNER, Sight

if TYPE_CHECKING:
    from memfs.admission.gate import Decision

AGENT_TRAILER = "Memfs-Agent"
"""The trailer of a commit whose text an agent wrote: its own name for itself, or its key's."""

MAX_SUBJECT = 200
_MAX_ID_TRIES = 50
_RANK = (Origin.OWNER, Origin.AGENT, Origin.IMPORTED, Origin.DERIVED)
"""Whose word a text is, the person's own first; a changed text never rises."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Writes into one repository. ``identities`` are the addresses that are the author's own."""

    tree: WorkTree
    places: Places
    today: date
    settings: RepositorySettings
    identities: tuple[str, ...]
    sight: Sight
    configuration: Mapping[str, str | None] | None  # git's
    caller: Caller = OWNER  # on whose behalf
    folder: str = ""  # where the author is, below the root: paths may be typed from there
    is_elsewhere: bool = False  # the author is in another repository

    @property
    def fields(self) -> Fields:
        """What checks the fields of a memory to be."""
        return Fields(
            tree=self.tree,
            places=self.places,
            settings=self.settings,
            sight=self.sight,
            caller=self.caller,
            today=self.today,
            folder=self.folder,
            author=self.identities[0] if self.identities else "",
        )

    def remember(
        self, draft: DraftText, *, dry_run: bool = False, again: bool = False, commit: Commit = ONE_COMMIT
    ) -> Recorded:
        """Write a new memory and commit it.

        Raises :class:`InvalidMemoryError` with every missing or wrong field, :class:`RefusedError`
        when the gate rejects or holds it, :class:`TwiceError` for a text that is here already unless ``again``;
        nothing is written in any case.
        """
        require_agents_welcome(self.places, self.tree, draft.origin)
        paths = [entry.path for entry in scan_memories(self.tree).entries]
        blind = not all(self.sight.sees_path(self.caller, path) for path in paths)
        draft, chosen = self.fields.with_defaults(draft)
        decision = self.require_admissible(draft, blind=blind)
        front, tied = self.fields.complete(draft)
        _require_admitted(decision)
        taken = {Path(path).stem.lower() for path in paths}
        taken -= self._left_uncommitted(draft, front, blind=blind)
        for attempt in range(_MAX_ID_TRIES):
            memory_id = _choose_id(draft, taken, blind=blind)
            file = self._make(f"memories/{front['scope']}/{memory_id}.md", front, draft.body)
            recorded = Recorded(
                file=file,
                commit=None,
                decision=decision,
                similar=find_similar(self.tree, file),
                notices=(*chosen, *tied, *self.fields.remarks(require_memory(file))),
            )
            same = next((other for other, likeness in recorded.similar if likeness == "same"), None)
            if same is not None and not again:
                raise TwiceError(same)
            if dry_run:
                return recorded
            try:
                message = _message(commit.subject or f"Remember {memory_id}", draft.allow, agent=_agent_of(draft))
                name = self._commit([(file.path, file.raw, None)], message, commit)
            except ConflictError:
                if draft.id is not None or attempt == _MAX_ID_TRIES - 1:
                    raise
                taken.add(memory_id)
                continue
            return replace(recorded, commit=name)
        raise AssertionError("unreachable: the loop returns or raises")

    def edit(
        self,
        before: MemoryFile,
        *,
        changes: Mapping[str, FrontValue | None],
        body: str | None = None,
        raw: bytes | None = None,
        origin: Origin = Origin.OWNER,
        declared: bool = False,
        allow: Mapping[str, str] | None = None,
        dry_run: bool = False,
        commit: Commit = ONE_COMMIT,
    ) -> Recorded:
        """Change fields or the body of ``before``; all other bytes stay. A changed scope moves the file.

        ``raw`` instead is the whole new file, as an editor left it. A changed text takes ``origin``
        when that is ``declared`` or lower than what it had: an edit by an agent is no longer the
        owner's text, and an owner's edit does not make imported text the owner's.
        """
        require_agents_welcome(self.places, self.tree, origin)
        allow = allow or {}
        self._require_edit_admissible(before, changes, body, raw, origin=origin, allow=allow)
        raw, tied = self.fields.tie_edited(before, raw, changes, body)
        file = self._at_its_place(before, raw)
        memory = require_memory(file)
        if raw == before.raw:
            return Recorded(file=file, commit=None, decision=self._decide(file, origin, allow, message=""))
        had = before.memory.supersedes if before.memory is not None and file.path == before.path else ()
        require_heir(self.tree, memory.scope, set(memory.supersedes) - set(had), self.fields.sees)
        wanted = _origin_of_edit(before, memory, origin, declared=declared)
        if memory.origin is not wanted:
            file = self._changed(before, file, {"origin": wanted.value})
        if allow and set(allow) - set(memory.allow):
            file = self._changed(before, file, {"allow": (*memory.allow, *allow)})
        message = _message(commit.subject or f"Edit {file.id}", allow)
        decision = self._decide(file, wanted, allow, message=message)
        _require_admitted(decision)
        _require_schema(file)
        recorded = Recorded(
            file=file, commit=None, decision=decision, notices=(*tied, *self._remarks(before, file, wanted))
        )
        if dry_run:
            return recorded
        moved = file.path != before.path
        changed: list[tuple[str, bytes | None, str | None]] = [(file.path, file.raw, None if moved else before.digest)]
        if moved:
            changed.append((before.path, None, before.digest))
        return replace(recorded, commit=self._commit(changed, message, commit))

    def make_new(self, draft: DraftText) -> MemoryFile:
        """Return the file that ``draft``, which names its id, makes; nothing is written.

        Raises what :meth:`remember` raises for a text that cannot be recorded. What is alike is not looked for: this
        is for whoever brings many.
        """
        draft, _ = self.fields.with_defaults(draft)
        decision = self.require_admissible(draft)
        front, _ = self.fields.complete(draft)
        _require_admitted(decision)
        return self._make(f"memories/{front['scope']}/{draft.id}.md", front, draft.body)

    def write(
        self, changes: Sequence[tuple[str, bytes | None, str | None]], subject: str, commit: Commit = ONE_COMMIT
    ) -> str:
        """Commit files (path, content, digest of what was there before) that this writer made; return the commit."""
        return self._commit(changes, subject, commit) or ""

    def forget(self, file: MemoryFile) -> str:
        """Delete a memory and commit that. Its approvals stay in the tree: they are the tombstone."""
        return self._commit([(file.path, None, file.digest)], f"Forget {file.id}") or ""

    def require_admissible(self, draft: DraftText, *, blind: bool = False) -> Decision:
        """Return the gate's decision on all of ``draft``.

        Raises :class:`RefusedError` when it is rejected, and :class:`HeldError` when it contains what looks
        like a secret or personal data.
        """
        name = _choose_id(draft, (), blind=blind)
        front: dict[str, FrontValue] = {**draft.front, **self.fields.declared(draft)}
        decision = judge_draft(
            Draft(
                fields={key: value for key, value in front.items() if value},
                body=draft.body,
                origin=draft.origin,
                kind=str(front.get("kind", "")),
                file_name=f"{name}.md",
                commit_message=_message(f"Remember {name}", draft.allow, agent=_agent_of(draft)),
            ),
            identities=self.identities,
            allow=draft.allow,
        )
        _require_safe(decision)
        return decision

    def _require_edit_admissible(
        self,
        before: MemoryFile,
        changes: Mapping[str, FrontValue | None],
        body: str | None,
        raw: bytes | None,
        *,
        origin: Origin,
        allow: Mapping[str, str],
    ) -> None:
        given = {key: value for key, value in changes.items() if value is not None}
        text = body or ""
        if raw is not None:
            document = read_memory(before.path, raw).document
            given = dict(document.front) if document is not None else {}
            text = document.body if document is not None else raw.decode("utf-8", "surrogateescape")
        draft = Draft(fields=given, body=text, origin=origin, kind=str(given.get("kind", "")), file_name="")
        _require_safe(judge_draft(draft, identities=self.identities, allow=allow))

    def _remarks(self, before: MemoryFile, file: MemoryFile, wanted: Origin) -> tuple[str, ...]:
        notices = self.fields.remarks(require_memory(file))
        old = before.memory.origin if before.memory is not None else None
        if old is not None and wanted is not old:
            notices = (*notices, f"its origin is now {wanted.value}: it was {old.value}, and the text changed")
        return notices

    def _at_its_place(self, before: MemoryFile, raw: bytes) -> MemoryFile:
        """Return the file that ``raw`` makes, in the folder of the scope that it names."""
        file = read_memory(before.path, raw)
        scope = file.document.front.get("scope") if file.document else None
        if isinstance(scope, str) and scope != scope_of_path(before.path):
            name = before.path.rsplit("/", 1)[-1]
            file = read_memory(f"memories/{self.fields.require_scope_here(scope)}/{name}", raw)
        return file

    def _changed(self, before: MemoryFile, file: MemoryFile, changes: Mapping[str, FrontValue]) -> MemoryFile:
        changed = self._at_its_place(before, change_memory(file, changes, None))
        require_memory(changed)
        return changed

    def _left_uncommitted(self, draft: DraftText, front: Mapping[str, FrontValue], *, blind: bool) -> set[str]:
        """Return the id under which an earlier run wrote this very draft, and could not commit it."""
        memory_id = _choose_id(draft, (), blind=blind)
        path = f"memories/{front['scope']}/{memory_id}.md"
        try:
            written = read_file(self.tree, path)
        except InvalidMemoryError:
            return set()
        return {memory_id.lower()} if written == self._make(path, front, draft.body).raw else set()

    def _make(self, path: str, front: Mapping[str, FrontValue], body: str) -> MemoryFile:
        """Return the memory file that these fields make, read back from its own bytes."""
        file = make_memory(path, front, body)
        _require_schema(file)
        if len(file.raw) > self.settings.memory_bytes:
            raise InvalidMemoryError(
                f"the memory has {len(file.raw)} bytes; this repository takes up to {self.settings.memory_bytes}",
                hint="keep what is needed to decide, and name the rest as evidence",
            )
        return file

    def _decide(self, file: MemoryFile, origin: Origin, allow: Mapping[str, str], *, message: str) -> Decision:
        assert file.document is not None
        return judge_draft(
            Draft(
                fields=file.document.front,
                body=file.document.body,
                origin=origin,
                kind=str(file.document.front.get("kind", "")),
                file_name=file.path,
                commit_message=message,
            ),
            identities=self.identities,
            allow=allow,
        )

    def _commit(
        self, changes: Sequence[tuple[str, bytes | None, str | None]], message: str, commit: Commit = ONE_COMMIT
    ) -> str | None:
        """Commit ``changes`` and return the commit's name; write them alone, and return None, where none is wanted."""
        planned = [Change(path=path, content=content, before=before) for path, content, before in changes]
        if commit.subject:  # typed by somebody, and in git for good
            _require_admitted(judge_text(commit.subject, field="commit message"))
            if "\n" in commit.subject or len(commit.subject) > MAX_SUBJECT:
                what = f"one line of at most {MAX_SUBJECT} characters"
                raise InvalidMemoryError(f"the subject of a commit is {what}", where="-m")
        if not commit.wanted:
            write_uncommitted(self.tree, planned)
            return None
        return commit_changes(
            self.tree,
            planned,
            self.settings.message(message),
            signing_timeout=read_user_settings(self.places).signing_timeout or SIGNING_TIMEOUT,
            configuration=self.configuration,
        )


def _require_schema(file: MemoryFile) -> None:
    """Raise :class:`InvalidMemoryError` with line and column unless ``file`` fits the published schema."""
    assert file.document is not None
    problems = check_front(file.document, read_schema("memory"))
    if problems:
        first = problems[0]
        where = f"{printable(file.path)}:{first.line}:{first.column}"
        raise InvalidMemoryError(str(first), where=where, reasons=tuple(map(str, problems)))


def _require_safe(decision: Decision) -> None:
    """Raise before anything else looks at a text that is rejected, or that looks like a secret or personal data."""
    rejected = tuple(finding for finding in decision.findings if finding.severity is Severity.REJECT)
    if rejected:
        raise RefusedError("admission rejected this text; nothing was written", findings=rejected)
    private = tuple(finding for finding in decision.findings if finding.family in (Family.SECRETS, Family.PERSONAL))
    if any(finding.severity is Severity.HOLD for finding in private):
        raise HeldError("admission holds this draft back; it was not recorded", findings=private)


def _require_admitted(decision: Decision) -> None:
    if decision.outcome is Outcome.REJECT:
        raise RefusedError("admission rejected this text; nothing was written", findings=decision.findings)
    if decision.outcome is Outcome.HOLD:
        raise HeldError("admission holds this draft back; it was not recorded", findings=decision.findings)


def blind_id(wanted: str, body: str, *, taken: Collection[str]) -> str:
    """Return an id for a caller who does not see every memory: whether ``wanted`` is taken would tell of one."""
    digest = sha256(body.encode("utf-8", "surrogatepass")).hexdigest()
    words = "-".join(wanted.split("-")[: MAX_WORDS - 1])[:40].strip("-")
    every = (f"{words}-{digest[:size]}" for size in (4, 8, 16))  # no counting on from a hidden one
    return next((one for one in every if one not in taken), slug_of_title(wanted, taken=taken))


def _choose_id(draft: DraftText, taken: Collection[str], *, blind: bool) -> str:
    """Return the id of a new memory. ``blind`` says that some memories here are not for this caller."""
    title = draft.front.get("title")
    words = title if isinstance(title, str) else draft.body.strip().split("\n\n", 1)[0]
    if blind:
        return blind_id(draft.id or slug_of_title(words, taken=()), draft.body, taken=taken)
    if draft.id is None:
        return slug_of_title(words, taken=taken)
    if not is_id(draft.id):
        raise InvalidMemoryError(
            "must be an id: lower-case letters, digits and dashes",
            where="--id",
            hint=f"--id {slug_of_title(draft.id, taken=taken)}",
        )
    if draft.id.lower() in taken:
        raise UsageError(
            "a memory of that id exists",
            where=draft.id,
            hint="choose another with --id; `memfs list` shows those that you may see",
        )
    return draft.id


def _origin_of_edit(before: MemoryFile, after: Memory, given: Origin, *, declared: bool) -> Origin:
    """Return the origin of an edited text."""
    old = before.memory
    if declared or old is None:
        return given
    if (after.body, after.title) == (old.body, old.title):
        return old.origin
    return max(old.origin, given, key=_RANK.index)


def _agent_of(draft: DraftText) -> str | None:
    return draft.author if draft.origin is Origin.AGENT else None


def _message(subject: str, allow: Mapping[str, str], *, agent: str | None = None) -> str:
    """Return a commit message with the rules that were let pass (ADMISSION 2) and the agent that wrote the text."""
    notes = [f"Admission-Allowed: {rule} ({reason})" for rule, reason in allow.items()]
    notes += [f"{AGENT_TRAILER}: {agent}"] if agent else []
    return "\n\n".join([subject, *(["\n".join(notes)] if notes else [])])
