"""What one file alone is told, and the little that the rules about many files need of it. Pure.

The result depends on the path, the bytes, the rules and the gate only, so it can be kept by digest.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Sequence
from datetime import date
from typing import Any
from unicodedata import normalize

from memfs.admission.gate import Finding, Severity, allowed_by, judge_file
from memfs.admission.rules import Family
from memfs.check.results import Level, Result
from memfs.check.rules import FORM_RULES, RULES, make_result
from memfs.disk.shipped import read_schema
from memfs.model.evidence import format_evidence, parse_evidence
from memfs.model.memory import Document, Kind, Memory, MemoryFile, Origin, PathEvidence, WhenPathChanges
from memfs.model.reader import id_of_path, read_memory, statement_of_body
from memfs.model.schema import check_front
from memfs.model.scope import scope_of_path
from memfs.model.triggers import format_trigger, parse_trigger
from memfs.model.unseen import find_unseen
from memfs.model.values import asdict, dataclass, replace
from memfs.repository.duplicates import statement_sketch

MAX_COLUMNS = 2_000
"""Longest line, in characters, that forges show whole in a difference."""

MAX_STATEMENT = 600
"""Characters of a statement that are kept for comparing it with others."""

# What a glance sees of evidence and triggers: enough to find the files that must be read whole.
_RESTS_ON = re.compile(
    r"""[\s"'\[,]([^\s"'\[,:@#]{1,300})(?:#[^@\n]{0,200})?@(?:(?:blob|text):)?[0-9a-f]{4,64}\b"""
    r"""|\bwhen[ ]([^\s"']{1,300})[ ]changes"""
)
_GLANCE = 16 * 1024  # characters of front matter

MAX_OF_A_RULE = 5
"""Most findings of one admission rule that are told one by one for a file."""

UNREAD = "unread"
"""The kind of a file that was only glanced at."""

_ADDRESS = re.compile(r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,190}")
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?")
_FAMILY_RULES = {
    Family.SECRETS: "secret",
    Family.PERSONAL: "personal-data",
    Family.CODEPOINTS: "hidden-character",
    Family.AUTHORITY: "authority",
    Family.TRANSIENCE: "transient",
    Family.FORM: "bad-value",
}
_WARNING_RULES = {
    Family.CODEPOINTS: "mixed-script",
    Family.PERSONAL: "colleague-named",
    Family.TRANSIENCE: "transient",
    Family.AUTHORITY: "held",
    Family.SECRETS: "secret",
    Family.FORM: "bad-value",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of one file: its results, and its fields as text where it is a memory.

    ``held`` are results that a person's approval settles.
    """

    path: str
    digest: str
    id: str
    results: tuple[Result, ...] = ()
    held: tuple[Result, ...] = ()
    kind: str = ""  # empty: no well-formed memory
    origin: str = ""
    scope: str = ""
    author: str = ""
    evidence: tuple[str, ...] = ()
    evidence_line: int | None = None
    recorded: str = ""
    trigger: str = ""
    trigger_line: int | None = None
    expires: str = ""
    supersedes: tuple[str, ...] = ()
    supersedes_line: int | None = None
    text_digest: str = ""  # of the body with its spaces folded
    signature: tuple[int, ...] = ()  # for near duplicates
    statement: str = ""  # its start, for a closer look at two memories
    topics: tuple[str, ...] = ()  # tags and what it applies to
    rests_on: tuple[str, ...] = ()  # paths of this repository that its evidence or its trigger names
    title: str = ""
    addresses: tuple[str, ...] = ()  # e-mail addresses in the front matter
    own: tuple[str, ...] = ()  # of those, the ones that counted as the author's own
    allow: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()  # the names in the front matter

    @property
    def is_memory(self) -> bool:
        return bool(self.kind)

    def memory(self) -> Memory:
        """Return the fields as a memory without its text, for judging its state."""
        return Memory(
            id=self.id,
            path=self.path,
            kind=Kind(self.kind),
            origin=Origin(self.origin),
            scope=self.scope,
            evidence=tuple(parse_evidence(text) for text in self.evidence),
            recorded=date.fromisoformat(self.recorded),
            review_trigger=parse_trigger(self.trigger),
            statement="",
            body="",
            author=self.author or None,
            supersedes=self.supersedes,
            expires=date.fromisoformat(self.expires) if self.expires else None,
        )


def look_at(path: str, raw: bytes, *, identities: Collection[str] = ()) -> Known:
    """Return what is known of the file ``path`` that contains ``raw``."""
    return look_at_file(read_memory(path, raw), identities=identities)


def look_at_file(file: MemoryFile, *, identities: Collection[str] = ()) -> Known:
    """Return what is known of ``file``. ``identities`` are addresses that a memory may name (ADMISSION 3)."""
    addresses = _find_addresses(file)
    own = tuple(address for address in addresses if address.casefold() in identities)
    results = [
        *check_name(file.path),
        *_check_form(file),
        *_check_schema(file),
        *_check_bytes(file),
        *_check_unseen(file),
    ]
    admitted, held = _check_admission(file, own)
    known = Known(
        path=file.path,
        digest=file.digest,
        id=file.id,
        results=(*results, *admitted),
        held=tuple(held),
        addresses=addresses,
        own=own,
    )
    return known if file.memory is None else _with_fields(known, file.memory, file.document)


def _with_fields(known: Known, memory: Memory, document: Document | None) -> Known:
    assert document is not None
    lines = document.lines
    return replace(
        known,
        kind=memory.kind.value,
        origin=memory.origin.value,
        scope=memory.scope,
        author=memory.author or "",
        evidence=tuple(format_evidence(piece) for piece in memory.evidence),
        evidence_line=lines.get("evidence"),
        recorded=memory.recorded.isoformat(),
        trigger=format_trigger(memory.review_trigger),
        trigger_line=lines.get("review_trigger"),
        expires=memory.expires.isoformat() if memory.expires else "",
        supersedes=memory.supersedes,
        supersedes_line=lines.get("supersedes"),
        text_digest=_text_digest(" ".join(memory.body.split())),
        signature=statement_sketch(memory.statement[:MAX_STATEMENT]),
        statement=memory.statement[:MAX_STATEMENT],
        topics=tuple(dict.fromkeys((*memory.applies_to, *memory.tags))),
        rests_on=_rests_on(memory),
        title=memory.title or "",
        allow=memory.allow,
        fields=tuple(document.front),
    )


def glance(path: str, raw: bytes) -> Known:
    """Return only what a changed file is held against: id, scope, words, and what it supersedes.

    For the many files that a change leaves alone; it says nothing about whether they are sound.
    """
    text = raw.decode("utf-8", "replace").replace("\r\n", "\n")
    front, _, body = text.removeprefix("---\n").partition("\n---\n")
    supersedes: tuple[str, ...] = ()
    if "supersedes" in front:
        memory = read_memory(path, raw).memory
        supersedes = memory.supersedes if memory is not None else ()
    folded = " ".join(body.split())
    statement = statement_of_body(body)[:MAX_STATEMENT]
    return Known(
        path=path,
        digest="",
        id=id_of_path(path),
        kind=UNREAD if folded else "",
        scope=scope_of_path(path) or "",
        supersedes=supersedes,
        text_digest=_text_digest(folded),
        signature=statement_sketch(statement),
        statement=statement,
        rests_on=_ground_of(front),
    )


def look_for_ground(raw: bytes) -> tuple[str, ...]:
    """Return the paths that the front matter of a memory seems to rest on, read with a glance."""
    return _ground_of(raw[: 2 * _GLANCE].decode("utf-8", "replace").removeprefix("---\n").partition("\n---")[0])


def _ground_of(front: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one or other for one, other in _RESTS_ON.findall(front[:_GLANCE])))


def _rests_on(memory: Memory) -> tuple[str, ...]:
    paths = [piece.path for piece in memory.evidence if isinstance(piece, PathEvidence) and piece.repo is None]
    if isinstance(memory.review_trigger, WhenPathChanges):
        paths.append(memory.review_trigger.path)
    return tuple(dict.fromkeys(paths))


def _text_digest(folded: str) -> str:
    return hashlib.sha256(folded.encode("utf-8", "replace")).hexdigest()[:32]


def check_name(path: str) -> Iterator[Result]:
    """Yield what is wrong with a path as such."""
    if scope_of_path(path) is None:
        yield make_result("misplaced-file", path=path)
    for part in path.split("/"):
        stem = part.rstrip(" .")
        if _RESERVED.fullmatch(stem) or part != stem:
            yield make_result("reserved-name", path=path)
            break


def normal_form(raw: bytes) -> bytes | None:
    """Return ``raw`` as memfs writes it, or None where only a person can bring it there.

    Nothing but Unicode form, line ends, trailing blanks and the file's last line changes.
    """
    try:
        text = raw.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return None
    if "\r" in text or "\0" in text:
        return None
    lines = [line.rstrip(" \t") for line in normalize("NFC", text).split("\n")]
    return ("\n".join(lines).rstrip("\n") + "\n").encode("utf-8")


def _check_form(file: MemoryFile) -> Iterator[Result]:
    for problem in file.problems:
        rule = FORM_RULES.get(problem.rule, "bad-front-matter")
        if problem.rule == "scope-folder" and scope_of_path(file.path) is None:
            continue  # misplaced-file says it better
        message = f"{problem.field}: {problem.message}" if problem.field else problem.message
        yield make_result(
            rule,
            message,
            path=file.path,
            line=problem.line,
            column=problem.column,
            level=None if problem.fatal or RULES[rule].level is not Level.ERROR else Level.WARNING,
            fixable=problem.rule == "byte-order-mark",
        )


def _check_schema(file: MemoryFile) -> Iterator[Result]:
    """Yield what the published schema says of a memory that was read: one who reads it by the schema agrees."""
    if file.memory is None or file.document is None:
        return
    for problem in check_front(file.document, read_schema("memory")):
        yield make_result("bad-value", f"{problem}.", path=file.path, line=problem.line, column=problem.column)


def _check_bytes(file: MemoryFile) -> Iterator[Result]:
    if file.document is None:
        return
    text = file.raw.decode("utf-8")
    normal = normal_form(file.raw)
    # CRLF costs no approval and is what a checkout on Windows has (TRUST 3).
    if normal is not None and normal != file.raw.replace(b"\r\n", b"\n") and not text.startswith("\ufeff"):
        line = next(
            (
                number
                for number, (now, then) in enumerate(
                    zip(text.replace("\r\n", "\n").split("\n"), normal.decode().split("\n"), strict=False), 1
                )
                if now != then
            ),
            text.count("\n") + 1,
        )
        yield make_result("not-normal-form", path=file.path, line=line, column=1, fixable=True)
    for number, line_text in enumerate(text.split("\n"), 1):
        if len(line_text) > MAX_COLUMNS:
            message = f"This line has {len(line_text):,} characters; forges hide part of it in a review."
            yield make_result("long-line", message, path=file.path, line=number, column=MAX_COLUMNS + 1)
            break


def _check_unseen(file: MemoryFile) -> Iterator[Result]:
    if file.document is None:
        return
    for one in find_unseen(file.raw.decode("utf-8").replace("\r\n", "\n")):
        message = f"{one.sentence[0].upper()}{one.sentence[1:]}."
        yield make_result("unseen-text", message, path=file.path, line=one.line, column=1)


def _find_addresses(file: MemoryFile) -> tuple[str, ...]:
    if file.document is None:
        return ()
    values = (v if isinstance(v, str) else " ".join(v) for v in file.document.front.values())
    return tuple(sorted({address for value in values if "@" in value for address in _ADDRESS.findall(value)}))


def _check_admission(file: MemoryFile, own: Collection[str]) -> tuple[list[Result], list[Result]]:
    """Return what admission says, and what of it a person's approval settles."""
    results: list[Result] = []
    held: list[Result] = []
    if file.document is None:
        return results, held
    passing = allowed_by(file)
    body_line = max(1, file.raw.count(b"\n") - file.document.body.count("\n") + 1)
    told: dict[str, int] = {}
    for finding in judge_file(file, identities=own).findings:
        if finding.family is Family.FORM:
            continue  # _check_form has said it
        if finding.line is not None:  # one place; without one it counts what the gate did not list
            told[finding.rule] = told.get(finding.rule, 0) + 1
            if told[finding.rule] > MAX_OF_A_RULE:
                continue
        line, column = _place(finding, file.document, body_line)
        # ADMISSION 2: what a file lets pass for itself counts once a person has approved exactly that.
        is_allowed = finding.rule in passing
        rule = "allowed-by-itself" if is_allowed else rule_of(finding)
        level = Level.WARNING if finding.severity is Severity.WARN and not is_allowed else Level.ERROR
        message = f"{finding.field}: {finding.message} ({finding.rule})."
        result = make_result(rule, message, path=file.path, line=line, column=column, level=level)
        (held if is_allowed or finding.severity is Severity.HOLD else results).append(result)
    for rule_name, count in told.items():
        if count > MAX_OF_A_RULE:
            more = f"And {count - MAX_OF_A_RULE:,} more places ({rule_name})."
            results.append(make_result(_rule_named(rule_name, [*results, *held]), more, path=file.path))
    return results, held


def _rule_named(name: str, results: Sequence[Result]) -> str:
    return next(result.rule for result in results if result.message.endswith(f"({name})."))


def rule_of(finding: Finding) -> str:
    """Return the rule of ``memfs check`` that reports a finding of admission."""
    if finding.severity is Severity.HOLD:
        return "held"
    return (_WARNING_RULES if finding.severity is Severity.WARN else _FAMILY_RULES)[finding.family]


def _place(finding: Finding, document: Document, body_line: int) -> tuple[int | None, int | None]:
    """Return where in the file a finding is, from where it is in its field."""
    if finding.field == "body":
        return (body_line, None) if finding.line is None else (body_line + finding.line - 1, finding.column)
    line = document.lines.get(finding.field)
    return line, (1 if line is not None else None)


# -- as JSON, for keeping ----------------------------------------------------------------------------

_OF_RESULTS = ("results", "held")


def format_known(known: Known) -> dict[str, Any]:
    """Return ``known`` as JSON values, empty fields left out."""
    names: tuple[str, ...] = Known.__match_args__
    found = _without_empty({name: getattr(known, name) for name in names})
    for name in _OF_RESULTS:
        if name in found:
            found[name] = [_without_empty(asdict(result)) for result in found[name]]
    return found


def _without_empty(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in ("", (), None, False)}


def parse_known(kept: dict[str, Any]) -> Known:
    """Return what :func:`format_known` wrote.

    Raises ``TypeError``, ``ValueError`` or ``KeyError`` for anything else.
    """
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in kept.items()}
    for name in _OF_RESULTS:
        if name in values:
            values[name] = tuple(Result(**{**result, "level": Level(result["level"])}) for result in values[name])
    return Known(**({"id": ""} | values))
