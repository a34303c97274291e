"""Writing memories: draft → text → gate → file and commit, one way for every surface.

Nothing is written before everything holds; a refusal names all that is wrong and changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from memfs.disk.files import read_file, scan_memories
from memfs.disk.places import Places
from memfs.disk.settings import RepositorySettings
from memfs.disk.worktree import WorkTree
from memfs.errors import InvalidMemoryError, RefusedError, UsageError
from memfs.model.codepoints import escape_hidden
from memfs.model.memory import FrontValue, Memory, MemoryFile, OnDate, Origin
from memfs.model.reader import change_memory, format_memory, id_of_path, read_memory, require_memory
from memfs.model.scope import Caller, require_scope, scope_of_path
from memfs.model.values import dataclass, field
from memfs.sight import OWNER, Sight
from memfs.standing.tie import Knot, Tied

if TYPE_CHECKING:
    from memfs.admission.gate import Decision

REQUIRED = ("kind", "scope", "evidence", "review_trigger")
"""Fields that a person must give; ``origin`` and ``recorded`` are declared by the command."""

AGENT_TRAILER = "Memfs-Agent"
"""The trailer of a commit whose text an agent wrote: its own name for itself, or its key's."""

_MAX_ID_TRIES = 50
_MOST_COMPARED = 500
_MOST_SHOWN = 3
_STANDING = (Origin.OWNER, Origin.AGENT, Origin.IMPORTED, Origin.DERIVED)


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
    similar: tuple[tuple[str, str], ...] = ()  # id, "same" | "near" | "contradicts"


class HeldError(RefusedError):
    """The gate holds a draft back: it may be kept as a draft with its author, not in the repository."""


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

    def remember(self, draft: DraftText, *, dry_run: bool = False) -> Recorded:
        """Write a new memory and commit it.

        Raises :class:`InvalidMemoryError` with every missing or wrong field, :class:`RefusedError`
        when the gate rejects or holds it; nothing is written in either case.
        """
        from memfs.git.commit import ConflictError

        self.require_admissible(draft, hold=True)
        front, tied = self._complete(draft)
        paths = [entry.path for entry in scan_memories(self.tree).entries]
        blind = not all(map(self._sees, paths))
        taken = {Path(path).stem.lower() for path in paths}
        taken -= self._left_uncommitted(draft, front, blind=blind)
        for attempt in range(_MAX_ID_TRIES):
            memory_id = self._choose_id(draft, taken, blind=blind)
            path = f"memories/{front['scope']}/{memory_id}.md"
            file = self._parse(path, front, draft.body)
            agent = draft.author if draft.origin is Origin.AGENT else None
            message = _message(f"Remember {memory_id}", draft.allow, agent=agent)
            decision = self._judge(file, draft.origin, draft.allow, message=message)
            similar = self._find_similar(file)
            notices = (*tied, *self._remarks(require_memory(file)))
            if dry_run:
                return Recorded(file=file, commit=None, decision=decision, similar=similar, notices=notices)
            try:
                commit = self._commit([(path, file.raw, None)], message)
            except ConflictError:
                if draft.id is not None or attempt == _MAX_ID_TRIES - 1:
                    raise
                taken.add(memory_id)
                continue
            return Recorded(file=file, commit=commit, decision=decision, similar=similar, notices=notices)
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
    ) -> Recorded:
        """Change fields or the body of ``before``; all other bytes stay. A changed scope moves the file.

        ``raw`` instead is the whole new file, as an editor left it. A changed text takes ``origin``
        when that is ``declared`` or lower than what it had: an edit by an agent is no longer the
        owner's text, and an owner's edit does not make imported text the owner's.
        """
        allow = allow or {}
        old_origin = before.memory.origin if before.memory is not None else None
        given = {key: value for key, value in changes.items() if value is not None}
        new_text = body or ""
        if raw is not None:
            document = read_memory(before.path, raw).document
            given = dict(document.front) if document is not None else {}
            new_text = document.body if document is not None else raw.decode("utf-8", "surrogateescape")
        self._refuse_rejected(given, new_text, "", DraftText(body=new_text, origin=origin, allow=allow), hold=True)
        raw, tied = self._tied(before, raw, changes, body)
        file = self._at_its_place(before, raw)
        memory = require_memory(file)
        if raw == before.raw:
            return Recorded(file=file, commit=None, decision=self._decide(file, origin, allow, message=""))
        wanted = old_origin or origin
        if declared or before.memory is None or _says_otherwise(memory, before.memory):
            wanted = _origin_after(old_origin, origin, declared=declared)
        if memory.origin is not wanted:
            file = self._at_its_place(before, change_memory(file, {"origin": wanted.value}, None))
            require_memory(file)
        if allow and set(allow) - set(memory.allow):
            file = self._at_its_place(before, change_memory(file, {"allow": (*memory.allow, *allow)}, None))
            require_memory(file)
        message = _message(f"Edit {file.id}", allow)
        decision = self._judge(file, wanted, allow, message=message)
        notices = (*tied, *self._remarks(require_memory(file)))
        if old_origin is not None and wanted is not old_origin:
            notices = (*notices, f"its origin is now {wanted.value}: it was {old_origin.value}, and the text changed")
        if dry_run:
            return Recorded(file=file, commit=None, decision=decision, notices=notices)
        moved = file.path != before.path
        changed: list[tuple[str, bytes | None, str | None]] = [(file.path, file.raw, None if moved else before.digest)]
        if moved:
            changed.append((before.path, None, before.digest))
        return Recorded(file=file, commit=self._commit(changed, message), decision=decision, notices=notices)

    def _tied(
        self, before: MemoryFile, raw: bytes | None, changes: Mapping[str, FrontValue | None], body: str | None
    ) -> tuple[bytes, tuple[str, ...]]:
        """Return the edited file with new evidence tied, and what its author should know about that.

        Evidence that the file had already stays as it is.
        """
        given = dict(changes)
        document = read_memory(before.path, raw).document if raw is not None else None
        if document is not None:
            given = {key: document.front[key] for key in ("evidence", "review_trigger") if key in document.front}
        had = before.document.front.get("evidence", ()) if before.document is not None else ()
        scope = (document.front if document is not None else given).get("scope") or scope_of_path(before.path)
        knot = self._knot(scope)
        notices: list[str] = []
        tied: dict[str, FrontValue] = {}
        evidence = given.get("evidence")
        if evidence:
            texts = (evidence,) if isinstance(evidence, str) else evidence
            both = [Tied(text=text) if text in had else knot.tie(text) for text in texts]
            tied["evidence"] = tuple(one.text for one in both)
            notices = [said for one in both for said in one.notices]
        if isinstance(trigger := given.get("review_trigger"), str) and trigger:
            tied["review_trigger"] = knot.tie_trigger(trigger)
        if raw is None:
            return change_memory(before, {**changes, **tied}, body), tuple(notices)
        new = {key: value for key, value in tied.items() if value != given[key]}
        return (change_memory(read_memory(before.path, raw), new, None) if new else raw), tuple(notices)

    def _find_similar(self, file: MemoryFile) -> tuple[tuple[str, str], ...]:
        """Return the memories of the same scope that say the same, nearly the same or the opposite.

        Looks at the most recently changed ones only: this is a hint while writing, ``memfs check`` and
        ``memfs review`` look at all. A long note that holds a short rule is not like it.
        """
        from memfs.admission.duplicates import judge_pair

        memory = require_memory(file)
        folder = f"memories/{memory.scope}/"
        entries = [
            entry
            for entry in scan_memories(self.tree).entries
            if entry.path.startswith(folder) and "/" not in entry.path[len(folder) :] and entry.path != file.path
        ]
        found = []
        for entry in sorted(entries, key=lambda entry: -entry.mtime_ns)[:_MOST_COMPARED]:
            other = id_of_path(entry.path)
            if not other or other in memory.supersedes or not _may_be_alike(entry.size, len(file.raw)):
                continue
            try:
                body = _body_of(read_file(self.tree, entry.path))
            except InvalidMemoryError:
                continue
            likeness = judge_pair(memory.body, body)
            if likeness is not None:
                found.append((other, likeness.value))
        return tuple(found[:_MOST_SHOWN])

    def require_admissible(self, draft: DraftText, *, hold: bool = False) -> None:
        """Raise :class:`RefusedError` when the gate rejects ``draft``; with ``hold`` also when it contains what looks
        like a secret or personal data.

        Asked before anything else looks at the text: a value that is rejected must not reach an error
        message, a child process or a temporary file either (ADMISSION 1).
        """
        self._refuse_rejected(
            {**draft.front, "author": draft.author or ""}, draft.body, draft.id or "", draft, hold=hold
        )

    def _refuse_rejected(
        self, front: Mapping[str, FrontValue], body: str, name: str, draft: DraftText, *, hold: bool
    ) -> None:
        from memfs.admission.gate import Draft, Severity, judge_draft
        from memfs.admission.rules import Family

        decision = judge_draft(
            Draft(fields=front, body=body, origin=draft.origin, kind=str(front.get("kind", "")), file_name=name),
            identities=self.identities,
            allow=draft.allow,
        )
        rejected = tuple(finding for finding in decision.findings if finding.severity is Severity.REJECT)
        if rejected:
            raise RefusedError("admission rejected this text; nothing was written", findings=rejected)
        private = [f for f in decision.findings if f.family in (Family.SECRETS, Family.PERSONAL)]
        if hold and any(finding.severity is Severity.HOLD for finding in private):
            raise HeldError("admission holds this draft back; it was not recorded", findings=decision.findings)

    def forget(self, file: MemoryFile) -> str:
        """Delete a memory and commit that. Its approvals stay in the tree: they are the tombstone."""
        return self._commit([(file.path, None, file.digest)], f"Forget {file.id}")

    def _remarks(self, memory: Memory) -> tuple[str, ...]:
        """Return what is allowed and probably not meant: a review that is due at once or can never be."""
        trigger = memory.review_trigger
        if isinstance(trigger, OnDate) and trigger.on <= self.today:
            return (f"the review is due at once: {trigger.on.isoformat()} has passed",)
        return self._knot(memory.scope).remarks(memory)

    def _at_its_place(self, before: MemoryFile, raw: bytes) -> MemoryFile:
        """Return the file that ``raw`` makes, in the folder of the scope that it names."""
        file = read_memory(before.path, raw)
        scope = file.document.front.get("scope") if file.document else None
        if isinstance(scope, str) and scope != scope_of_path(before.path):
            name = before.path.rsplit("/", 1)[-1]
            file = read_memory(f"memories/{self._require_scope_here(scope)}/{name}", raw)
        return file

    def _complete(self, draft: DraftText) -> tuple[dict[str, FrontValue], tuple[str, ...]]:
        """Return the front matter of a draft: declared fields added, evidence tied to its content; and what
        the author should know about that.

        Raises :class:`InvalidMemoryError` that names everything that is missing or wrong.
        """
        given = {key: value for key, value in draft.front.items() if value not in ("", ())}
        missing = [name for name in REQUIRED if name not in given]
        if not draft.body.strip():
            missing.insert(0, "text")
        wrong = [f"required and missing: {', '.join(missing)}"] if missing else []
        notices: list[str] = []

        def tie_evidence(value: FrontValue) -> FrontValue:
            texts = (value,) if isinstance(value, str) else value
            tied, said = self._knot(given.get("scope")).tie_all(texts)
            notices.extend(said)
            return tied

        for name, check in (
            ("scope", self._require_scope_here),
            ("evidence", tie_evidence),
            ("review_trigger", lambda value: self._knot(None).tie_trigger(str(value))),
            ("supersedes", self._require_known),
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
        if draft.allow:
            declared["allow"] = tuple(draft.allow)
        if draft.author:
            declared["author"] = draft.author
        # What the command declares goes before what a draft says of itself.
        recorded = given.get("recorded", declared["recorded"])
        front: dict[str, FrontValue] = {**declared, **given, **declared, "recorded": recorded}
        return front, tuple(notices)

    def _require_known(self, value: FrontValue) -> FrontValue:
        known = {id_of_path(entry.path) for entry in scan_memories(self.tree).entries if self._sees(entry.path)}
        unknown = [one for one in ((value,) if isinstance(value, str) else value) if one not in known]
        if unknown:
            raise InvalidMemoryError(
                f"there is no memory {escape_hidden(unknown[0], single_line=True)} to replace", where="supersedes"
            )
        return value

    def _require_scope_here(self, value: FrontValue) -> str:
        scope = require_scope(str(value))
        if not self.settings.sound:
            raise InvalidMemoryError(
                f"this repository's settings cannot be read, so nothing is recorded: {self.settings.problems[0]}",
                where="scope",
                hint="mend .memfs/config.yaml first",
            )
        if not self.settings.allows(scope):
            raise InvalidMemoryError(
                f"this repository takes no memories of {scope}",
                where="scope",
                hint="`.memfs/config.yaml` lists its scopes",
            )
        self.sight.require_writable(self.caller, scope)
        return scope

    def _sees(self, path: str) -> bool:
        return self.sight.sees_path(self.caller, path)

    def _knot(self, scope: object) -> Knot:
        known = scope if isinstance(scope, str) else None
        return Knot(self.tree, folder=self.folder, scope=known, sees_path=self._sees)

    def _left_uncommitted(self, draft: DraftText, front: Mapping[str, FrontValue], *, blind: bool) -> set[str]:
        """Return the id under which an earlier run wrote this very draft, and could not commit it."""
        memory_id = self._choose_id(draft, (), blind=blind)
        path = f"memories/{front['scope']}/{memory_id}.md"
        try:
            written = read_file(self.tree, path)
        except InvalidMemoryError:
            return set()
        return {memory_id.lower()} if written == self._parse(path, front, draft.body).raw else set()

    def _choose_id(self, draft: DraftText, taken: Collection[str], *, blind: bool) -> str:
        from memfs.model.slugs import slug_of_title

        title = draft.front.get("title")
        words = title if isinstance(title, str) else draft.body.strip().split("\n\n", 1)[0]
        if blind:  # not every memory here is for this caller
            # Whether an id is taken would tell this caller of a memory that they may not see.
            mark = sha256(draft.body.encode("utf-8", "surrogatepass")).hexdigest()[:4]
            return slug_of_title(f"{draft.id or slug_of_title(words, taken=())}-{mark}", taken=taken)
        if draft.id is None:
            return slug_of_title(words, taken=taken)
        if draft.id.lower() in taken:
            raise UsageError(
                "a memory of that id exists",
                where=draft.id,
                hint="choose another with --id; `memfs list` shows those that you may see",
            )
        return draft.id

    def _parse(self, path: str, front: Mapping[str, FrontValue], body: str) -> MemoryFile:
        """Return the memory file that these fields make, read back from its own bytes."""
        from memfs.model.frontmatter import format_document

        raw = format_document(front, body)
        if len(raw) > self.settings.memory_bytes:
            raise InvalidMemoryError(
                f"the memory has {len(raw)} bytes; this repository takes up to {self.settings.memory_bytes}",
                hint="keep what is needed to decide, and name the rest as evidence",
            )
        file = read_memory(path, raw)
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
                kind=str(file.document.front.get("kind", "")),
                file_name=file.path,
                commit_message=message,
            ),
            identities=self.identities,
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

    def _commit(self, changes: Sequence[tuple[str, bytes | None, str | None]], message: str) -> str:
        from memfs.disk.settings import read_user_settings
        from memfs.git.commit import SIGNING_TIMEOUT, Change, commit_changes

        return commit_changes(
            self.tree,
            [Change(path=path, content=content, before=before) for path, content, before in changes],
            message,
            signing_timeout=read_user_settings(self.places).signing_timeout or SIGNING_TIMEOUT,
            configuration=self.configuration,
        )


def _may_be_alike(one: int, other: int) -> bool:
    return abs(one - other) < 900 + max(one, other) // 2


def _body_of(raw: bytes) -> str:
    """Return the text below the front matter, roughly: enough to compare words."""
    text = raw.decode("utf-8", "replace")
    if text.startswith("---"):
        end = text.find("\n---", 3)
        text = text[end + 4 :] if end >= 0 else text
    return text


def _says_otherwise(new: Memory, old: Memory) -> bool:
    return (new.body, new.title) != (old.body, old.title)


def _origin_after(old: Origin | None, given: Origin, *, declared: bool) -> Origin:
    if declared or old is None:
        return given
    return max(old, given, key=_STANDING.index)


def _message(subject: str, allow: Mapping[str, str], *, agent: str | None = None) -> str:
    """Return a commit message with the rules that were let pass (ADMISSION 2) and the agent that wrote the text."""
    notes = [f"Admission-Allowed: {rule} ({reason})" for rule, reason in allow.items()]
    notes += [f"{AGENT_TRAILER}: {agent}"] if agent else []
    return "\n\n".join([subject, *(["\n".join(notes)] if notes else [])])
