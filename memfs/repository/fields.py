"""The fields of a memory to be: completed, checked and tied to what they name, before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from typing import TYPE_CHECKING

from memfs.disk.files import scan_memories
from memfs.errors import InvalidMemoryError
from memfs.model.codepoints import escape_hidden
from memfs.model.memory import FrontValue, Memory, MemoryFile, OnDate
from memfs.model.reader import change_memory, id_of_path, read_memory
from memfs.model.scope import require_scope, scope_of_path
from memfs.model.values import dataclass
from memfs.repository.find import require_heir
from memfs.standing.tie import Knot, Tied

if TYPE_CHECKING:
    from memfs.disk.settings import RepositorySettings
    from memfs.disk.worktree import WorkTree
    from memfs.model.scope import Caller
    from memfs.repository.draft import DraftText
    from memfs.sight import Sight

REQUIRED = ("kind", "scope", "evidence", "review_trigger")
"""Fields that a person must give; ``origin`` and ``recorded`` are declared by the command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """Checks fields for one repository and one caller; what the caller may not see counts as not there."""

    tree: WorkTree
    settings: RepositorySettings
    sight: Sight
    caller: Caller
    today: date
    folder: str = ""  # where the author is, below the root: paths may be typed from there

    def complete(self, draft: DraftText) -> tuple[dict[str, FrontValue], tuple[str, ...]]:
        """Return the front matter of a draft: declared fields added, evidence tied to its content; and what its
        author should know about that.

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
            tied, said = self.knot(given.get("scope")).tie_all(texts)
            notices.extend(said)
            return tied

        checks: Mapping[str, Callable[[FrontValue], FrontValue]] = {
            "scope": self.require_scope_here,
            "evidence": tie_evidence,
            "review_trigger": lambda value: self.knot(None).tie_trigger(str(value)),
            "supersedes": lambda value: self._require_replaceable(value, given.get("scope")),
        }
        for name, check in checks.items():
            if name in given:
                try:
                    given[name] = check(given[name])
                except InvalidMemoryError as error:
                    wrong.append(f"{error}" + (f" ({error.hint})" if error.hint else ""))
        if wrong:
            raise InvalidMemoryError(
                "\n  ".join(wrong),
                reasons=tuple(wrong),
                hint="nothing was written; `memfs remember --help` explains each field",
            )
        declared = self.declared(draft)
        return {**given, **declared, "recorded": given.get("recorded", declared["recorded"])}, tuple(notices)

    def declared(self, draft: DraftText) -> dict[str, FrontValue]:
        """Return the fields that the command's caller declares, whatever the draft says of them."""
        declared: dict[str, FrontValue] = {"origin": draft.origin.value, "recorded": self.today.isoformat()}
        if draft.allow:
            declared["allow"] = tuple(draft.allow)
        if draft.author:
            declared["author"] = draft.author
        return declared

    def sees(self, path: str) -> bool:
        """Return whether the caller may see the file at ``path``."""
        return self.sight.sees_path(self.caller, path)

    def require_scope_here(self, value: FrontValue) -> str:
        """Return the scope when memories of it may be written here by this caller.

        Raises :class:`InvalidMemoryError`, and :class:`RefusedError` for a scope that the caller may not see.
        """
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

    def knot(self, scope: object) -> Knot:
        """Return what ties the evidence of a memory of ``scope``, as far as that is known."""
        known = scope if isinstance(scope, str) else None
        return Knot(self.tree, folder=self.folder, scope=known, sees_path=self.sees)

    def tie_edited(
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
        knot = self.knot(scope)
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

    def remarks(self, memory: Memory) -> tuple[str, ...]:
        """Return what is allowed and probably not meant: a review that is due at once or can never be."""
        trigger = memory.review_trigger
        if isinstance(trigger, OnDate) and trigger.on <= self.today:
            return (f"the review is due at once: {trigger.on.isoformat()} has passed",)
        return self.knot(memory.scope).remarks(memory)

    def _require_replaceable(self, value: FrontValue, scope: object) -> FrontValue:
        known = {id_of_path(entry.path) for entry in scan_memories(self.tree).entries if self.sees(entry.path)}
        ids = (value,) if isinstance(value, str) else value
        unknown = [one for one in ids if one not in known]
        if unknown:
            raise InvalidMemoryError(
                f"there is no memory {escape_hidden(unknown[0], single_line=True)} to replace", where="supersedes"
            )
        if isinstance(scope, str):
            require_heir(self.tree, scope, ids, self.sees)
        return value
