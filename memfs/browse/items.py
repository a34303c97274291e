"""What the pages show of a memory, as plain values, and how they are filtered and counted. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date

from memfs.model.values import dataclass, field

STATES = ("current", "recheck", "unknown", "expired", "superseded", "withheld")
TRUSTS = ("approved", "not approved", "withdrawn", "denied")
SORTS = ("newest", "oldest", "id")
PAGE_SIZE = 50
MAX_PAGE = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceLine:
    """One piece of evidence as written, how it stands, and the line now where it changed."""

    text: str
    status: str
    line_now: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One memory in a list. Text is exactly the file's; the pages make it visible and escape it."""

    key: str  # path without "memories/" and ".md": the page's address
    id: str
    title: str
    scope: str
    kind: str
    origin: str
    state: str  # of STATES; "withheld" where the text must not be shown
    trust: str  # of TRUSTS
    author: str | None = None
    recorded: date | None = None
    reasons: tuple[str, ...] = ()  # why the state is what it is
    reason: str | None = None  # the stable word of the verdict
    detail: str | None = None  # memfs's own words about the verdict
    people: tuple[str, ...] = ()
    approved_on: date | None = None
    trigger: str | None = None
    due: date | None = None
    topics: tuple[str, ...] = ()  # tags and what it applies to
    evidence: tuple[EvidenceLine, ...] = ()
    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    placeholder: str | None = None  # why the text is withheld
    text: str = ""  # lower-case, for searching; empty where withheld


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a list is narrowed to; empty fields narrow nothing."""

    q: str = ""
    scope: str = ""
    kind: str = ""
    state: str = ""
    trust: str = ""
    topic: str = ""
    sort: str = "newest"
    page: int = 1

    def words(self) -> tuple[str, ...]:
        return tuple(self.q.lower().split()[:12])

    def without(self, name: str) -> Filters:
        """Return these filters with one of them lifted."""
        return self.narrowed(name, "")

    def narrowed(self, name: str, value: str) -> Filters:
        """Return these filters with one of them set, from the first page on."""
        given = {key: getattr(self, key) for key in ("q", "scope", "kind", "state", "trust", "topic", "sort")}
        return Filters(**{**given, name: value})


def parse_filters(given: Mapping[str, str]) -> Filters:
    """Return the filters of an address's query; what makes no sense is left out."""
    sort = given.get("sort", "newest")
    page = given.get("page", "1")
    return Filters(
        q=given.get("q", "")[:200],
        scope=given.get("scope", "")[:140],
        kind=given.get("kind", "")[:40],
        state=given.get("state", "") if given.get("state") in STATES else "",
        trust=given.get("trust", "") if given.get("trust") in TRUSTS else "",
        topic=given.get("topic", "")[:200],
        sort=sort if sort in SORTS else "newest",
        page=min(int(page), MAX_PAGE) if page.isascii() and page.isdecimal() and len(page) < 7 and int(page) else 1,
    )


_FACETS = ("state", "trust", "kind", "scope")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """One page of a filtered list, with counts for every filter that could be chosen instead."""

    items: tuple[Item, ...]
    total: int
    page: int
    pages: int
    facets: Mapping[str, Sequence[tuple[str, int]]] = field(default_factory=dict)


def list_items(items: Sequence[Item], filters: Filters) -> Listing:
    """Return the page that ``filters`` ask for. One pass over all items, whatever is asked."""
    words = filters.words()
    chosen = {name: getattr(filters, name) for name in _FACETS}
    counts: dict[str, dict[str, int]] = {name: {} for name in _FACETS}
    found: list[Item] = []
    for item in items:
        if words and not all(word in item.text for word in words):
            continue
        if filters.topic and filters.topic not in item.topics:
            continue
        missed = [name for name in _FACETS if chosen[name] and not _fits(name, chosen[name], item)]
        if not missed:
            found.append(item)
            for name in _FACETS:
                value = getattr(item, name)
                counts[name][value] = counts[name].get(value, 0) + 1
        elif len(missed) == 1:  # would be here under another choice of that one filter
            value = getattr(item, missed[0])
            counts[missed[0]][value] = counts[missed[0]].get(value, 0) + 1
    found.sort(key=_sort_key(filters.sort))
    pages = max(1, -(-len(found) // PAGE_SIZE))
    page = min(filters.page, pages)
    return Listing(
        items=tuple(found[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]),
        total=len(found),
        page=page,
        pages=pages,
        facets={name: _ordered(name, counts[name]) for name in _FACETS},
    )


def due_items(items: Iterable[Item], today: date, *, days: int = 30) -> dict[str, list[Item]]:
    """Return what must be looked at: now, and within ``days``; soonest first."""
    now: list[Item] = []
    soon: list[Item] = []
    for item in items:
        if item.state in ("superseded", "withheld"):
            continue
        if item.state in ("recheck", "expired"):
            now.append(item)
        elif item.due is not None and (item.due - today).days <= days:
            soon.append(item)
    now.sort(key=lambda item: (item.state != "recheck", item.due or date.max, item.key))
    soon.sort(key=lambda item: (item.due or date.max, item.key))
    return {"now": now, "soon": soon}


def _fits(name: str, wanted: str, item: Item) -> bool:
    value: str = getattr(item, name)
    return value == wanted or (name == "scope" and wanted.endswith("/*") and value.startswith(wanted[:-1]))


def _sort_key(sort: str):  # type: ignore[no-untyped-def]  # a key function over Item
    if sort == "id":
        return lambda item: (item.id, item.key)
    sign = 1 if sort == "oldest" else -1
    return lambda item: (sign * (item.recorded or date.min).toordinal(), item.id, item.key)


def _ordered(name: str, counts: Mapping[str, int]) -> list[tuple[str, int]]:
    fixed = {"state": STATES, "trust": TRUSTS}.get(name)
    if fixed:
        return [(value, counts[value]) for value in fixed if value in counts]
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])) if name == "kind" else sorted(counts.items())
