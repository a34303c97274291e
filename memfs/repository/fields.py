"""The fields of a memory to be: completed, checked and tied to what they name, before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from typing import TYPE_CHECKING

from memfs.disk.files import scan_memories
from memfs.errors import InvalidMemoryError
from memfs.model.codepoints import escape_hidden
from memfs.model.days import read_day, read_trigger
from memfs.model.memory import FrontValue, Memory, MemoryFile, OnDate, Origin
from memfs.model.reader import change_memory, id_of_path, read_memory
from memfs.model.scope import is_scope, require_scope, scope_of_path
from memfs.model.values import dataclass, replace
from memfs.repository.find import require_heir
from memfs.repository.named import PERSONAL, store_of
from memfs.standing.tie import Knot, Tied

if TYPE_CHECKING:
    from memfs.disk.places import Places
    from memfs.disk.settings import RepositorySettings
    from memfs.disk.worktree import WorkTree
    from memfs.model.scope import Caller
    from memfs.repository.draft import DraftText
    from memfs.sight import Sight


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """Checks fields for one repository and one caller; what the caller may not see counts as not there."""

    tree: WorkTree
    places: Places
    settings: RepositorySettings
    sight: Sight
    caller: Caller
    today: date
    folder: str = ""  # where the author is, below the root: paths may be typed from there
    author: str = ""  # the address of who writes here

    def complete(self, draft: DraftText) -> tuple[dict[str, FrontValue], tuple[str, ...]]:
        """Return the front matter of a draft: declared fields added, evidence tied to its content; and what its
        author should know about that.

        Raises :class:`InvalidMemoryError` that names everything that is missing or wrong.
        """
        given = {key: value for key, value in draft.front.items() if value not in ("", ())}
        missing = [] if "evidence" in given else ["evidence"]
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
            "review_trigger": self.tie_trigger,
            "expires": self.read_expires,
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
                hint="nothing was written; "
                + (
                    "name what it rests on: --evidence PATH, PATH#Heading, #812, a URL or 'said by PERSON on DATE'"
                    if missing == ["evidence"]
                    else "`memfs remember --help` explains each field"
                ),
            )
        declared = self.declared(draft)
        return {**given, **declared, "recorded": given.get("recorded", declared["recorded"])}, tuple(notices)

    def with_defaults(self, draft: DraftText) -> tuple[DraftText, tuple[str, ...]]:
        """Return ``draft`` with what its author did not say, and a notice that says what that is.

        What a person writes may rest on their word; an agent names its evidence.
        """
        found = {
            "kind": self.settings.default_kind,
            "scope": self._default_scope(),
            "review_trigger": read_trigger(self.settings.default_review, self.today),
        }
        person = draft.author or self.author
        if draft.origin is Origin.OWNER and person:
            found["evidence"] = f"said by {person} on {self.today.isoformat()}"
        given = {name: value for name, value in draft.front.items() if value not in ("", ())}
        chosen = {name: value for name, value in found.items() if name not in given}
        words = ", ".join(f"{name} {value}" for name, value in chosen.items())
        front: dict[str, FrontValue] = {**chosen, **given}
        return replace(draft, front=front), (f"not given, so: {words}",) if words else ()

    def _default_scope(self) -> str:
        """Return the scope of a memory that does not say. It is personal in the user's own store alone: no other
        repository's word sends what they keep for themselves into it."""
        (only,) = self.settings.scopes if len(self.settings.scopes) == 1 else (None,)
        wanted = self.settings.default_scope or self._scope_of_folder() or only or "team"
        if wanted == PERSONAL:
            own = store_of(self.places, self.tree)
            return PERSONAL if own is not None and own.name == PERSONAL else "team"
        return "team" if wanted.endswith("/*") else wanted

    def _scope_of_folder(self) -> str | None:
        """Return the scope of the folder that the author is in: its own below ``memories/``, or that of a team
        which is called as one of the folders."""
        parts = self.folder.split("/") if self.folder else []
        if parts[:1] == ["memories"]:
            return scope_of_path(f"{self.folder}/x.md")
        names = self._teams()
        return next((f"team/{part}" for part in reversed(parts) if f"team/{part}" in names), None)

    def _teams(self) -> set[str]:
        """Return the scopes that are in use here or named by the settings, as far as the author may see them."""
        paths = (entry.path for entry in scan_memories(self.tree).entries)
        used = {scope_of_path(path) for path in paths if self.sees(path)}
        return {scope for scope in (*used, *self.settings.scopes) if scope and not scope.endswith("/*")}

    def tie_trigger(self, value: FrontValue) -> str:
        """Return a review trigger as it is written; a day may be given as people say it."""
        return self.knot(None).tie_trigger(read_trigger(str(value), self.today))

    def read_expires(self, value: FrontValue) -> str:
        """Return the day on which a memory expires; it may be given as people say it."""
        day = read_day(str(value), self.today)
        return day.isoformat() if day is not None else str(value)

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
        scope = str(value)
        if not is_scope(scope):
            named = sorted(one for one in self._teams() if one.rpartition("/")[2] == scope)
            scope = named[0] if len(named) == 1 else require_scope(scope)
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
                hint="`.memfs/config.yaml` lists its scopes"
                + ("; `memfs init --personal` makes a store of your own" if scope == "personal" else ""),
            )
        self.sight.require_writable(self.caller, scope)
        return scope

    def knot(self, scope: object) -> Knot:
        """Return what ties the evidence of a memory of ``scope``, as far as that is known."""
        known = scope if isinstance(scope, str) else None
        is_own = self.sight.is_own(self.caller)
        return Knot(self.tree, folder=self.folder, scope=known, sees_path=self.sees, sees_all=is_own)

    def tie_edited(
        self, before: MemoryFile, raw: bytes | None, changes: Mapping[str, FrontValue | None], body: str | None
    ) -> tuple[bytes, tuple[str, ...]]:
        """Return the edited file with new evidence tied, and what its author should know about that.

        Evidence that the file had already stays as it is.
        """
        given = dict(changes)
        document = read_memory(before.path, raw).document if raw is not None else None
        if document is not None:
            given = {
                key: document.front[key] for key in ("evidence", "review_trigger", "expires") if key in document.front
            }
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
            tied["review_trigger"] = knot.tie_trigger(read_trigger(trigger, self.today))
        if isinstance(expires := given.get("expires"), str) and expires:
            tied["expires"] = self.read_expires(expires)
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
