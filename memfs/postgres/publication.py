"""What one repository gives to a shared index: read from one commit, ready to be written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from hashlib import sha256
from typing import Any

from memfs import standing
from memfs.admission.gate import Outcome, judge_reading, settle_reading
from memfs.disk.places import Places
from memfs.disk.settings import REPOSITORY_FILE, RepositorySettings, parse_repository_settings
from memfs.disk.worktree import WorkTree
from memfs.errors import SetupError, UsageError
from memfs.git.log import committed_at
from memfs.git.snapshot import GitFiles, merge_base, read_folder
from memfs.index.document import count_terms, indexable_text
from memfs.index.tokenizer import TOKENIZER_VERSION
from memfs.model.memory import MemoryFile
from memfs.model.reader import read_memory
from memfs.model.scope import scope_of_path
from memfs.model.values import dataclass
from memfs.postgres.rows import format_state
from memfs.trust.cache import SignatureCache
from memfs.trust.carriers import APPROVALS, read_keyrings
from memfs.trust.keyring import check_chain, version_of_name
from memfs.trust.opening import HERE, view_of_files
from memfs.trust.record import read_receipt

MAX_LEXEME = 2000  # bytes; PostgreSQL refuses a tsvector with a longer one
MAX_POSITION = 16383
MAX_POSITIONS = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One memory as it is published. ``stamp`` changes when anything else of the row does, but for its vectors."""

    path: str
    scope: str
    file: MemoryFile
    counts: Mapping[str, int]
    length: int
    state: Mapping[str, Any]
    stamp: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """Everything of one commit that is shared. ``left_out`` says of each path why it is not."""

    repository: str
    name: str
    commit: str
    committed: datetime
    rows: tuple[Row, ...]
    readers: Mapping[str, tuple[str, ...] | None]
    keyrings: Mapping[int, bytes]
    receipts: Mapping[str, tuple[bytes, tuple[str, ...]]]
    left_out: Mapping[str, str]


def read_publication(tree: WorkTree, places: Places, commit: str, *, today: date, model: str | None) -> Publication:
    """Return what the repository of ``tree`` shares of ``commit``. Only git's objects are read, never the work tree.

    Raises :class:`UsageError` where nothing is named for sharing, :class:`SetupError` without a sound keyring: an
    index of several repositories tells them apart by the keyring's id.
    """
    files = GitFiles(tree, commit)
    settings = _settings(files)
    keyrings, receipts = read_keyrings(files), read_folder(files, APPROVALS)
    if not keyrings:
        raise SetupError("a shared index needs a keyring here", hint="memfs keys create")
    versions = {version: raw for path, raw in keyrings.items() if (version := version_of_name(_name(path)))}
    chain = check_chain(versions, SignatureCache(places).verify)
    memories, left_out = _memories(files)
    shared = _shared(memories, settings, left_out)
    states = _states(files, keyrings, receipts, memories, today)
    rows = [_row(scope, file, states[file.path], model) for scope, file in shared]
    scopes = {row.scope for row in rows}
    return Publication(
        repository=chain.repository_id,
        name=settings.name or tree.root.name,
        commit=commit,
        committed=committed_at(tree, commit),
        rows=tuple(rows),
        readers={scope: settings.readers.get(scope) for scope in sorted(scopes)},
        keyrings=versions,
        receipts=_speaking_of({row.file.id for row in rows}, receipts),
        left_out=left_out,
    )


def _settings(files: GitFiles) -> RepositorySettings:
    ((_, raw),) = files.read_many([REPOSITORY_FILE])
    if not isinstance(raw, bytes):
        raise UsageError("this repository shares nothing", hint=_SHARE)
    settings = parse_repository_settings(raw)
    if not settings.sound:
        raise SetupError("the settings of this repository cannot be read", where=REPOSITORY_FILE, hint="memfs check")
    if not settings.share:
        raise UsageError("this repository shares nothing", where=REPOSITORY_FILE, hint=_SHARE)
    return settings


_SHARE = "name the scopes in .memfs/config.yaml, for instance: share: [team, team/*]"


def _memories(files: GitFiles) -> tuple[dict[str, MemoryFile], dict[str, str]]:
    """Return the memories of the commit by path, and why other files below ``memories/`` are not."""
    sizes, others = files.memories()
    found: dict[str, MemoryFile] = {}
    left_out = dict.fromkeys(others, "is not a file")
    for path, raw in sorted(files.read_many(sizes), key=lambda pair: pair[0]):
        file = read_memory(path, raw) if isinstance(raw, bytes) else None
        if file is None or file.memory is None:
            left_out[path] = "is not a memory"
        else:
            found[path] = file
    return found, left_out


def _shared(
    memories: Mapping[str, MemoryFile], settings: RepositorySettings, left_out: dict[str, str]
) -> list[tuple[str, MemoryFile]]:
    """Return what leaves the repository, with its scope; why the rest does not is added to ``left_out``."""
    found: list[tuple[str, MemoryFile]] = []
    for path, file in memories.items():
        scope = scope_of_path(path)
        if scope is None or not settings.shares(scope):
            left_out[path] = "its scope is not shared"
        # ADMISSION 1: a rejected value is copied nowhere, so it does not leave the machine either.
        elif settle_reading(judge_reading(file), file, trusted=False).outcome is Outcome.REJECT:
            left_out[path] = "admission withholds it"
        else:
            found.append((scope, file))
    return found


def _states(
    files: GitFiles,
    keyrings: Mapping[str, bytes],
    receipts: Mapping[str, bytes],
    memories: Mapping[str, MemoryFile],
    today: date,
) -> dict[str, dict[str, Any]]:
    """Return the state of each memory at the commit, approvals judged by the keyring that is in it."""
    view = view_of_files(keyrings, receipts, today=today, pin=HERE)
    trusted = {path: view.verdict(file).trusted for path, file in memories.items()}
    subjects = [
        standing.Subject(path=path, digest=file.digest, memory=file.memory)
        for path, file in memories.items()
        if file.memory is not None
    ]
    successors: dict[str, list[str]] = {}
    for one in subjects:
        for old in one.memory.supersedes:
            successors.setdefault(old, []).append(one.path)
    newer = {
        one.path: standing.find_superseding(
            one.memory, successors, trusted=trusted[one.path], is_trusted=lambda path: trusted.get(path, False)
        )
        for one in subjects
    }
    facts = standing.Facts(files, standing.Forgetful(), tips=(files.commit,))
    return {path: format_state(report, today) for path, report in facts.judge(subjects, today, newer).items()}


def _row(scope: str, file: MemoryFile, state: Mapping[str, Any], model: str | None) -> Row:
    said = {name: value for name, value in state.items() if name != "on"}  # the day alone is no change
    raw = json.dumps([file.digest, scope, said, TOKENIZER_VERSION, model], sort_keys=True, ensure_ascii=True)
    counted, length = count_terms(indexable_text(file))
    return Row(
        path=file.path,
        scope=scope,
        file=file,
        counts={term: count for term, count in counted.items() if _is_lexeme(term)},
        length=length,
        state=state,
        stamp=sha256(raw.encode()).hexdigest(),
    )


def _is_lexeme(term: str) -> bool:
    return "\0" not in term and len(term.encode("utf-8", "replace")) <= MAX_LEXEME and term.isprintable()


def format_terms(counts: Mapping[str, int]) -> str:
    """Return ``counts`` as the text of a ``tsvector``: each term with as many positions as it occurs.

    Source: PostgreSQL's documentation of text search types. Quotes and backslashes are doubled; a term has at most
    255 positions of at most 16,383.
    """
    parts = []
    for term, count in counts.items():
        quoted = term.replace("\\", "\\\\").replace("'", "''")
        places = ",".join(map(str, range(1, min(count, MAX_POSITIONS) + 1)))
        parts.append(f"'{quoted}':{places}")
    return " ".join(parts)


def _speaking_of(ids: set[str], receipts: Mapping[str, bytes]) -> dict[str, tuple[bytes, tuple[str, ...]]]:
    """Return the receipts that speak of one of ``ids``, withdrawals too, with all the ids that they name."""
    found: dict[str, tuple[bytes, tuple[str, ...]]] = {}
    for path, raw in receipts.items():
        record = read_receipt(_name(path), raw)
        named = tuple(item.id for item in record.statement.items) if record is not None else ()
        if ids.intersection(named):
            found[_name(path)] = (raw, named)
    return found


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def batches(rows: tuple[Row, ...], size: int) -> Iterator[tuple[Row, ...]]:
    """Yield ``rows`` in parts of at most ``size``."""
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def is_ancestor(tree: WorkTree, older: str, newer: str) -> bool:
    """Return whether the history of ``newer`` contains ``older``; not where either commit is not here."""
    return merge_base(tree, older, newer) == older
