"""Pages from a catalogue: what is at each address, for the server and the export alike."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any

from memfs.browse.catalogue import Catalogue, timeline, trust_sentence
from memfs.browse.graph import Node, draw_graph
from memfs.browse.items import EvidenceLine, Filters, Item, due_items, list_items
from memfs.browse.pages import (
    Links,
    Site,
    as_markup,
    ground_of,
    memory_href,
    render_due,
    render_list,
    render_memory,
    render_page,
)
from memfs.check.results import Level, Result
from memfs.check.single import look_for_ground
from memfs.check.words import counted, who_sees
from memfs.disk.settings import RepositorySettings
from memfs.disk.worktree import WorkTree
from memfs.errors import MemfsError
from memfs.git.read import read_git
from memfs.git.snapshot import GitFiles, require_commit
from memfs.model.codepoints import escape_hidden, plain
from memfs.model.memory import Memory
from memfs.model.reader import statement_of_body
from memfs.model.scope import Caller
from memfs.model.values import dataclass
from memfs.propose.remote import find_main_branch
from memfs.repository.repository import Repository
from memfs.repository.verify import plan_verification
from memfs.review.change import Change, Review, review_range
from memfs.review.forms import headline
from memfs.review.notes import Tone
from memfs.review.words import compare_words, context_rows

DUE_DAYS = 30
MAX_REFS = 1_000
MAX_GROUND = 2_000
MAX_CHANGES = 100
MAX_ROWS = 400
MAX_WAITING = 200
_NOT_ASKED = ("superseded", "withheld", "expired")

_TONES = {"unchanged": "good", "changed": "warn", "missing": "bad"}
_STATE_TONES = {
    "current": "good",
    "recheck": "warn",
    "unknown": "plain",
    "expired": "bad",
    "superseded": "plain",
    "withheld": "bad",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """A branch that changes memories."""

    name: str
    note: str


def make_site(
    catalogue: Catalogue, *, name: str, about: str, today: date, review: bool, search: str = "index.html#q"
) -> Site:
    """Return what is on every page."""
    due = due_items(catalogue.items, today)
    return Site(
        name=name,
        about=about,
        due=len(due["now"]),
        waiting=len(_to_approve(catalogue)),
        review_href="review.html" if review else None,
        search_href=search,
        notices=catalogue.notices,
        forge=catalogue.forge,
        branch=(catalogue.main or "").partition("/")[2],
    )


def _to_approve(catalogue: Catalogue) -> list[Item]:
    return [item for item in catalogue.items if item.trust == "not approved" and item.state not in _NOT_ASKED]


def waiting_page(site: Site, catalogue: Catalogue, today: date, links: Links, *, drafts: bool = True) -> str:
    """Return the page of what waits for somebody, each with the command; ``drafts`` are of this machine alone."""
    approve, due = _to_approve(catalogue), due_items(catalogue.items, today)["now"]
    tones = {Level.ERROR: "stop", Level.WARNING: "look"}
    return render_page(
        "waiting.html",
        site=site,
        here="waiting",
        csp=links.csp,
        approve=approve[:MAX_WAITING],
        approve_left=max(0, len(approve) - MAX_WAITING),
        drafts=catalogue.drafts if drafts else None,
        due=due[:MAX_WAITING],
        due_left=max(0, len(due) - MAX_WAITING),
        findings=[
            {"tone": tones.get(one.level, "look"), "where": _where(one), "text": one.text}
            for one in catalogue.findings[:MAX_WAITING]
        ],
        findings_left=max(0, len(catalogue.findings) - MAX_WAITING),
        people=catalogue.people,
    )


def _where(result: Result) -> str:
    return f"{result.path}:{result.line}" if result.path and result.line else result.path or "the repository"


def map_page(site: Site, catalogue: Catalogue, links: Links) -> str:
    """Return the page of what memories rest on, and which."""
    resting: dict[str, list[tuple[Item, EvidenceLine]]] = {}
    for item in catalogue.items:
        for line in item.evidence:
            resting.setdefault(ground_of(line.text) or line.text, []).append((item, line))
    order = sorted(resting, key=lambda name: (-len(resting[name]), name))
    grounds = []
    for name in order[:MAX_WAITING]:
        nodes = [
            Node(label=item.id, note=line.status, tone=_TONES.get(line.status, "plain"), href=memory_href(item.key))
            for item, line in resting[name]
        ]
        href = site.file_href(name) if ground_of(resting[name][0][1].text) else None
        picture = draw_graph(Node(label=name), newer=(), older=(), evidence=nodes)
        grounds.append({"name": name, "href": href, "count": len(nodes), "graph": as_markup(picture)})
    return render_page(
        "map.html", site=site, here="map", csp=links.csp, grounds=grounds, left=max(0, len(order) - MAX_WAITING)
    )


def search_page(site: Site, links: Links) -> str:
    """Return the page that searches an exported site."""
    return render_page("search.html", site=site, here="search", csp=links.csp)


def search_data(catalogue: Catalogue) -> bytes:
    """Return the texts that an exported site searches, as a script that only assigns them."""
    rows = [
        {
            "href": memory_href(item.key),
            "title": escape_hidden(item.title, single_line=True),
            "id": escape_hidden(item.id, single_line=True),
            "scope": escape_hidden(item.scope, single_line=True),
            "state": item.state,
            "trust": item.trust,
            "text": escape_hidden(item.text, single_line=True),
        }
        for item in catalogue.items
    ]
    return f"window.memfsData = {json.dumps(rows, ensure_ascii=True)};\n".encode()


def find_looks(repository: Repository, caller: Caller, catalogue: Catalogue, item: Item) -> list[dict[str, Any]]:
    """Return the old and the new text of what changed under a memory, as rows of a difference."""
    if item.state != "recheck" or item.key not in catalogue.raw:
        return []
    try:
        assessment = repository.assess(catalogue.read(item.key), caller)
        plan = plan_verification(repository, assessment, caller=caller)
    except MemfsError:
        return []  # its evidence is gone, or only a person can say when to look again
    found = []
    for look in plan.looks:
        if look.new is not None:
            rows = list(context_rows(compare_words(look.old, look.new))) if look.old is not None else []
            found.append({"about": look.about, "rows": rows[:MAX_ROWS]})
    return found


def list_page(site: Site, catalogue: Catalogue, filters: Filters, links: Links) -> str:
    """Return one page of the list."""
    return render_list(site, list_items(catalogue.items, filters), filters, links)


def due_page(site: Site, catalogue: Catalogue, today: date, links: Links) -> str:
    """Return the page of what is due."""
    return render_due(site, due_items(catalogue.items, today, days=DUE_DAYS), links, days=DUE_DAYS)


def memory_page(
    site: Site,
    catalogue: Catalogue,
    item: Item,
    links: Links,
    *,
    settings: RepositorySettings,
    looks: Sequence[Mapping[str, Any]] = (),
) -> str:
    """Return the page of one memory; of a withheld one without any of its text."""
    file = catalogue.read(item.key) if item.key in catalogue.raw else None
    shown = item.placeholder is None and file is not None and file.memory is not None
    memory = file.memory if shown and file is not None else None
    text = file.raw.decode("utf-8", "replace").replace("\r\n", "\n") if shown and file is not None else ""
    return render_memory(
        site,
        item,
        links,
        statement=memory.title or " ".join(memory.statement.split()) if memory is not None else "",
        body=_rest_of(memory) if memory is not None else "",
        graph=_graph(catalogue, item),
        events=timeline(catalogue, file) if file is not None else (),
        facts=_facts(item, memory, settings),
        trust_sentence=trust_sentence(item.reason, item.detail, item.people),
        source=text,
        digest=file.digest if file is not None else "",
        tags=memory.tags if memory is not None else (),
        applies_to=memory.applies_to if memory is not None else (),
        looks=looks if memory is not None else (),
    )


def _rest_of(memory: Memory) -> str:
    """Return the body below the statement; the whole of it where the title stands above."""
    if memory.title:
        return memory.body
    statement = statement_of_body(memory.body)
    before, found, after = memory.body.partition(statement)
    return f"{before}{after}" if found else memory.body


def _facts(item: Item, memory: Memory | None, settings: RepositorySettings) -> list[tuple[str, str]]:
    origins = {"owner": "a person", "agent": "an agent", "imported": "imported text", "derived": "a model's summary"}
    facts = [
        ("Kind", item.kind),
        ("Written by", f"{origins[item.origin]} (origin {item.origin})" if item.origin else ""),
    ]
    facts += [("Author", item.author or ""), ("Recorded", item.recorded.isoformat() if item.recorded else "")]
    facts.append(("Look again", item.trigger or ""))
    if memory is not None and memory.expires is not None:
        facts.append(("Expires", memory.expires.isoformat()))
    facts.append(("Recalled for", who_sees(item.scope, settings)))
    return facts


def _graph(catalogue: Catalogue, item: Item) -> str:
    up = "../" * (item.key.count("/") + 1)

    def node(memory_id: str, note: str) -> Node:
        keys = catalogue.keys_of(memory_id)
        if not keys:
            return Node(label=memory_id, note=f"{note}, not here")
        other = catalogue.by_key[keys[0]]
        return Node(label=memory_id, note=note, tone=_STATE_TONES[other.state], href=up + memory_href(other.key))

    return draw_graph(
        Node(label=item.id, tone=_STATE_TONES[item.state]),
        newer=[node(other, _replaces(catalogue, item, other)) for other in item.superseded_by],
        older=[node(other, "replaced by this one") for other in item.supersedes],
        evidence=[
            Node(label=line.text, note=line.status, tone=_TONES.get(line.status, "plain")) for line in item.evidence
        ],
    )


def _replaces(catalogue: Catalogue, item: Item, other: str) -> str:
    """Return what the newer memory does to this one: nothing yet, while only this one is approved."""
    keys = catalogue.keys_of(other)
    waits = item.trust == "approved" and bool(keys) and catalogue.by_key[keys[0]].trust != "approved"
    return "would replace this one, not approved" if waits else "replaces this one"


# -- review ------------------------------------------------------------------------------------------


def find_branches(tree: WorkTree, sees: Callable[[str], bool]) -> tuple[str | None, list[Branch]]:
    """Return the main branch, and the branches that touch memories that the reader ``sees``, or what those rest on,
    however old.

    One question for all refs, then one for each that is not merged; the newest come first.
    """
    main = find_main_branch(tree)
    if main is None:
        return None, []
    switches = ("--sort=-committerdate", f"--no-merged={main}", "--format=%(refname)%00%(committerdate:short)")
    raw = read_git(tree, "for-each-ref", *switches, f"--count={MAX_REFS}", "refs/heads", "refs/remotes")
    rests = _rests_on(tree, main, sees)
    found: dict[str, Branch] = {}
    for line in raw.decode("utf-8", "replace").splitlines():
        ref, _, on = line.partition("\0")
        name = ref.removeprefix("refs/heads/").removeprefix("refs/remotes/")
        if not name or name == main or ref.endswith("/HEAD") or name.removeprefix("origin/") in found:
            continue
        note = _what_it_touches(tree, main, ref, rests, sees)
        if note:
            found[name] = Branch(name=name, note=f"{note}, last on {on}")
    return main, list(found.values())


def _rests_on(tree: WorkTree, main: str, sees: Callable[[str], bool]) -> tuple[str, ...]:
    """Return the files that memories of the main branch rest on."""
    files = GitFiles(tree, require_commit(tree, main))
    paths = [path for path in files.memories()[0] if sees(path)]
    raw = (content for _, content in files.read_many(paths) if isinstance(content, bytes))
    found = {path for content in raw for path in look_for_ground(content)}
    return tuple(sorted(found & files.entries.keys()))[:MAX_GROUND]


def _what_it_touches(tree: WorkTree, main: str, ref: str, rests: Sequence[str], sees: Callable[[str], bool]) -> str:
    """Return how much a branch changes, in words; "" for nothing, or nothing that the reader sees."""
    try:
        base = read_git(tree, "merge-base", main, ref).decode("ascii").strip()
        changed = read_git(tree, "diff-tree", "-r", "--name-only", "-z", base, ref, "--", "memories")
    except MemfsError:
        return ""
    memories = [path for path in changed.decode("utf-8", "surrogateescape").split("\0") if path]
    if memories and not any(map(sees, memories)):
        return ""
    for paths, words in ((("memories", ".memfs"), ""), (rests, " on files that memories rest on")):
        if not paths:
            continue
        try:
            count = read_git(tree, "rev-list", "--count", ref, f"^{main}", "--", *paths).strip().decode("ascii")
        except MemfsError:
            return ""
        if count != "0":
            return f"{counted(int(count), 'commit')}{words}"
    return ""


def review_branch(repository: Repository, caller: Caller, main: str, branch: str, *, pin: str | None) -> Review:
    """Return the review of ``branch`` against the main branch, as far as ``caller`` may see it."""
    return review_range(
        repository.tree,
        repository.places,
        main,
        branch,
        today=repository.today,
        pin=pin,
        identities=repository.identities(),
        sees=repository.sight.for_caller(caller),
    )


def review_page(
    site: Site,
    links: Links,
    *,
    main: str | None,
    branches: Sequence[Branch],
    chosen: str | None,
    review: Review | None,
    hrefs: Mapping[str, str],
) -> str:
    """Return the page of the branches, with the review of the chosen one side by side."""
    heading = "Review" if review is None else f"{chosen}: {headline(review)}"
    return render_page(
        "review.html",
        site=site,
        here="review",
        csp=links.csp,
        heading=heading,
        branches=[
            {"name": b.name, "note": b.note, "href": hrefs.get(b.name, "review.html"), "chosen": b.name == chosen}
            for b in branches
        ],
        review=None if review is None else _review_values(review, main or ""),
    )


def _review_values(review: Review, main: str) -> dict[str, Any]:
    shown = review.changes[:MAX_CHANGES]
    left = len(review.changes) - len(shown)
    return {
        "judged": f"Against {plain(main)}, judged by {review.judged_by}."
        + (f" The first {MAX_CHANGES} of {len(review.changes)} memories." if left else ""),
        "alarms": [{"tone": note.tone.value, "text": note.text} for note in review.alarms],
        "changes": [_change_values(change, place) for place, change in enumerate(shown)],
    }


_BADGES = {
    Tone.STOP: ("to settle", "withdrawn"),
    Tone.LOOK: ("look", "recheck"),
    Tone.FINE: ("approved", "approved"),
    Tone.PLAIN: ("fine", "current"),
}


def _change_values(change: Change, place: int) -> dict[str, Any]:
    text, tone = _BADGES[change.tone]
    rows = list(context_rows(change.rows))
    where = f"{change.scope_before} → {change.scope}" if change.what == "moved" else change.scope or change.path
    return {
        "anchor": f"change-{place}",
        "heading": change.id or change.path,
        "badge": {"text": text, "tone": tone},
        "scope": where,
        "meta": [
            part
            for part in (
                "same text" if change.what == "approvals" else change.what,
                change.kind,
                f"seen by {change.seen_by}",
            )
            if part
        ],
        "notes": [{"tone": note.tone.value, "text": note.text} for note in change.notes],
        "rows": rows[:MAX_ROWS],
        "one_sided": change.what in ("added", "removed"),
    }
