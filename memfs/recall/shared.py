"""Shared indexes as stores of one recall: asked within a time, ranked with the rest, believed about nothing.

A server proposes candidates; they are ranked like rows of an own index, and the best are fetched and verified on
this machine. A server that is late, unreachable or of another version costs a notice.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from memfs import postgres
from memfs.admission.gate import judge_reading, settle_reading
from memfs.disk.files import Stamps
from memfs.errors import MemfsError
from memfs.index.opening import Opened
from memfs.index.text import KEY_BYTES, Beyond, TextIndex
from memfs.index.tokenizer import Question
from memfs.index.vectors import cosine, parse_tokens
from memfs.model.codepoints import plain
from memfs.model.memory import MemoryFile
from memfs.recall.query import Query
from memfs.recall.stores import Candidate, Store
from memfs.sight import Sight
from memfs.standing.assess import Assessment

if TYPE_CHECKING:
    from memfs.disk.places import Places
    from memfs.disk.settings import SharedStore
    from memfs.recall.meaning import Meaning

PATIENCE = 3.0
"""Seconds that somebody who asks by hand waits for a shared index."""
FETCHED = 25
"""The best candidates of a shared index whose texts are fetched, at once."""

T = TypeVar("T")


class Asked:
    """The shared indexes that one recall asks. Connecting begins at once, beside the work on the own stores."""

    def __init__(self, shared: Sequence[SharedStore], places: Places, query: Query, today: date) -> None:
        hurried = query.prompt or query.work_path is not None
        self._sources = [
            Source(one, places, query, today, seconds=one.milliseconds / 1000 if hurried else PATIENCE)
            for one in shared
        ]

    def stores(
        self, asked: Question, meaning: Meaning | None, own: Iterable[str], notices: list[str]
    ) -> list[SharedIndex]:
        """Return one store for each index that answered; what went wrong with the others goes to ``notices``.

        ``own`` are the ids of repositories whose clones are here: these know better.
        """
        found = []
        others = sorted(own)
        for source in self._sources:
            try:
                found.append(source.ask(asked, meaning, others))
            except MemfsError as error:
                notices.append(f"store {plain(source.name)} is left out: {error.message}")
        return found


class Source:
    """One shared index and the time that it has. Each step runs beside the caller, who goes on without it."""

    def __init__(self, store: SharedStore, places: Places, query: Query, today: date, *, seconds: float) -> None:
        self.name = store.name
        self._store = store
        self._places = places
        self._query = query
        self._today = today
        self._seconds = seconds
        self._deadline = 0.0
        self._connection: postgres.Open | None = None
        self._opening = _Beside(self._open)

    def _open(self) -> postgres.Open:
        postgres.load()  # importing the driver is not the server's time
        self._deadline = monotonic() + self._seconds
        return postgres.borrow(
            postgres.parse_address(self._store.url), self._places, milliseconds=int(self._seconds * 1000) + 1
        )

    def ask(self, asked: Question, meaning: Meaning | None, others: Sequence[str]) -> SharedIndex:
        """Return the candidates for ``asked`` as a store. Raises :class:`MemfsError`."""
        connection = self._connection = self._opening.wait(lambda: self._deadline or monotonic() + PATIENCE)
        words = [*asked.terms, *(form for forms in asked.forms.values() for form in forms)]
        near = None
        if meaning is not None:
            near = (meaning.key, f"[{','.join(f'{value:.5f}' for value in meaning.vector)}]")
        scopes = self._query.caller.scopes
        answer = self._within(lambda: postgres.search(connection, words, scopes=scopes, others=others, meaning=near))
        return SharedIndex(self, self._store, answer, asked, meaning)

    def fetch(self, keys: Sequence[int]) -> tuple[list[postgres.Verified], int]:
        """Return the memories of ``keys``, verified, and how many rows were dropped. Raises :class:`MemfsError`."""
        connection = self._connection
        if connection is None:
            return [], 0
        held = self._within(lambda: postgres.read_held(connection, keys))
        evidence = self._within(lambda: postgres.read_evidence(connection, held))
        postgres.give_back(postgres.parse_address(self._store.url), connection)
        self._connection = None
        pins = postgres.parse_pins(self._store.pins)
        return postgres.verify(held, evidence, pins, self._places, today=self._today)

    def _within(self, step: Callable[[], T]) -> T:
        found: T = _Beside(step).wait(lambda: self._deadline)
        return found


class _Beside:
    """One step on a thread of its own, which is left behind when it is late."""

    def __init__(self, step: Callable[[], Any]) -> None:
        self._step = step
        self._result: Any = None
        self._error: BaseException | None = None
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._result = self._step()
        except BaseException as error:  # noqa: BLE001 - handed to whoever waits
            self._error = error

    def wait(self, deadline: Callable[[], float]) -> Any:
        """Return the step's result; ``deadline`` is asked again while waiting, for it may begin later."""
        while self._thread.is_alive() and (left := deadline() - monotonic()) > 0:
            self._thread.join(min(left, 0.02))
        if self._thread.is_alive():
            raise postgres.NoIndexError("the shared index did not answer in time")
        if self._error is not None:
            raise self._error
        return self._result


class SharedIndex(Store):
    """What a shared index answered to one question, as a store whose rows are the candidates."""

    __slots__ = ("_fetched", "_source")

    def __init__(
        self,
        source: Source,
        settings: SharedStore,
        answer: postgres.Answer,
        asked: Question,
        meaning: Meaning | None,
    ) -> None:
        self.name = settings.name
        self.index = index_of_answer(answer, asked)
        self.opened = Opened(index=self.index, unreadable=(), read_scan=lambda: Stamps([], (), []))
        self.sight = Sight(None, tuple)
        self.usage = {}
        self._source = source
        self._fetched: dict[str, postgres.Verified] = {}
        if meaning is not None:
            vectors = _Vectors(answer, meaning)
            meaning.add(vectors, [row if vectors.has(row) else -1 for row in range(len(self.index))])

    @property
    def is_here(self) -> bool:
        return False

    def prepare(self, candidates: Sequence[Candidate]) -> list[str]:
        """Fetch the best candidates, in one go; return what a reader should know about it."""
        wanted = [int(one.path) for one in candidates if one.store is self][:FETCHED]
        try:
            found, dropped = self._source.fetch(wanted)
        except MemfsError as error:
            return [f"store {plain(self.name)} is left out: {error.message}"]
        self._fetched = {str(one.key): one for one in found}
        if dropped:
            return [f"store {plain(self.name)}: {dropped} rows are not what they say they are and were dropped"]
        return []

    def read(self, path: str, query: Query) -> MemoryFile | None:
        one = self._fetched.get(path)
        return one.file if one is not None and self.sight.sees_path(query.caller, one.file.path) else None

    def label(self, file: MemoryFile) -> str:
        return f"{self.name}: {self._of(file).origin}"

    def assess_many(self, files: Sequence[MemoryFile]) -> list[Assessment]:
        found = []
        for file in files:
            one = self._of(file)
            gate = settle_reading(judge_reading(file), file, trusted=one.verdict.trusted)
            found.append(
                Assessment(
                    file=file, state=one.state, verdict=one.verdict, gate=gate,
                    visible_in_scope=file.memory.scope if file.memory is not None else None,
                )
            )  # fmt: skip
        return found

    def _of(self, file: MemoryFile) -> postgres.Verified:
        return next(one for one in self._fetched.values() if one.file is file)


def index_of_answer(answer: postgres.Answer, asked: Question) -> TextIndex:
    """Return the candidates as an index, whose statistics are those of the whole part that the caller sees."""
    rows = list(answer.found.values())
    place = {term: number for number, term in enumerate(answer.terms)}
    counts: list[Mapping[str, int]] = []
    for row in rows:
        merged = {}
        for term in asked.terms:
            number = sum(row.counts[place[form]] for form in (term, *asked.forms.get(term, ())) if form in place)
            if number:
                merged[term] = number
        counts.append(merged)
    totals = {
        term: sum(answer.frequencies[place[form]] for form in (term, *asked.forms.get(term, ())) if form in place)
        for term in asked.terms
    }
    lengths = array("l", [max(row.length, 0) for row in rows])
    keys = b"".join(row.key.to_bytes(KEY_BYTES, "little") for row in rows)
    return TextIndex(
        paths=[str(row.key) for row in rows],
        keys=bytearray(keys),
        scopes=array("l", [1] * len(rows)),
        lengths=lengths,
        scope_names=[None, "team"],
        postings_rows=0,
        open_postings=None,
        tail=counts,
        read_facets=list,
        beyond=Beyond(
            documents=max(0, answer.documents - len(rows)),
            length=max(0, answer.length - sum(lengths)),
            frequencies={term: max(0, total - sum(term in one for one in counts)) for term, total in totals.items()},
        ),
    )


class _Vectors:
    """The vectors that came with the candidates, where they are of the reader's model."""

    def __init__(self, answer: postgres.Answer, meaning: Meaning) -> None:
        self.dimensions = meaning.model.dimensions
        self._rows = [row if row.model == meaning.key else None for row in answer.found.values()]

    def has(self, number: int) -> bool:
        row = self._rows[number]
        return row is not None and row.vector is not None

    def nearest(self, query: array[float], places: Sequence[int], *, limit: int) -> list[int]:
        found = {row: self.similarity(query, place) for row, place in enumerate(places) if place >= 0}
        near = [(-value, row) for row, value in found.items() if value is not None]
        return [row for _, row in sorted(near)[:limit]]

    def similarity(self, query: array[float], number: int) -> float | None:
        row = self._rows[number]
        return cosine(query, row.vector) if row is not None and row.vector is not None else None

    def tokens(self, number: int) -> list[int]:
        row = self._rows[number]
        return parse_tokens(row.tokens, (self.dimensions + 7) // 8) if row is not None and row.tokens else []
