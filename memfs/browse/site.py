"""Pages from a catalogue: what is at each address, for the server and the export alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from memfs.browse.catalogue import Catalogue, timeline, trust_sentence
from memfs.browse.graph import Node, draw_graph
from memfs.browse.items import Filters, Item, due_items, list_items
from memfs.browse.pages import (
    Links,
    Site,
    memory_href,
    render_due,
    render_list,
    render_memory,
    render_page,
)
from memfs.check.single import look_for_ground
from memfs.check.words import counted, who_sees
from memfs.disk.settings import RepositorySettings
from memfs.disk.worktree import WorkTree
from memfs.errors import MemfsError
from memfs.git.read import read_git
from memfs.git.snapshot import GitFiles, require_commit
from memfs.model.codepoints import plain
from memfs.model.memory import Memory
from memfs.model.reader import statement_of_body
from memfs.model.scope import Caller
from memfs.model.values import dataclass
from memfs.propose.remote import find_main_branch
from memfs.repository.repository import Repository
from memfs.review.change import Change, Review, review_range
from memfs.review.forms import headline
from memfs.review.notes import Tone
from memfs.review.words import context_rows

DUE_DAYS = 30
MAX_REFS = 1_000
MAX_GROUND = 2_000
MAX_CHANGES = 100
MAX_ROWS = 400

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


def make_site(catalogue: Catalogue, *, name: str, about: str, today: date, review: bool) -> Site:
    """Return what is on every page."""
    due = due_items(catalogue.items, today)
    return Site(
        name=name,
        about=about,
        due=len(due["now"]),
        review_href="review.html" if review else None,
        notices=catalogue.notices,
    )


def list_page(site: Site, catalogue: Catalogue, filters: Filters, links: Links) -> str:
    """Return one page of the list."""
    return render_list(site, list_items(catalogue.items, filters), filters, links)


def due_page(site: Site, catalogue: Catalogue, today: date, links: Links) -> str:
    """Return the page of what is due."""
    return render_due(site, due_items(catalogue.items, today, days=DUE_DAYS), links, days=DUE_DAYS)


def memory_page(site: Site, catalogue: Catalogue, item: Item, links: Links, *, settings: RepositorySettings) -> str:
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


def find_branches(tree: WorkTree) -> tuple[str | None, list[Branch]]:
    """Return the main branch, and the branches that touch memories or what memories rest on, however old.

    One question for all refs, then one for each that is not merged; the newest come first.
    """
    main = find_main_branch(tree)
    if main is None:
        return None, []
    switches = ("--sort=-committerdate", f"--no-merged={main}", "--format=%(refname)%00%(committerdate:short)")
    raw = read_git(tree, "for-each-ref", *switches, f"--count={MAX_REFS}", "refs/heads", "refs/remotes")
    rests = _rests_on(tree, main)
    found: dict[str, Branch] = {}
    for line in raw.decode("utf-8", "replace").splitlines():
        ref, _, on = line.partition("\0")
        name = ref.removeprefix("refs/heads/").removeprefix("refs/remotes/")
        if not name or name == main or ref.endswith("/HEAD") or name.removeprefix("origin/") in found:
            continue
        note = _what_it_touches(tree, main, ref, rests)
        if note:
            found[name] = Branch(name=name, note=f"{note}, last on {on}")
    return main, list(found.values())


def _rests_on(tree: WorkTree, main: str) -> tuple[str, ...]:
    """Return the files that memories of the main branch rest on."""
    files = GitFiles(tree, require_commit(tree, main))
    raw = (content for _, content in files.read_many(files.memories()[0]) if isinstance(content, bytes))
    found = {path for content in raw for path in look_for_ground(content)}
    return tuple(sorted(found & files.entries.keys()))[:MAX_GROUND]


def _what_it_touches(tree: WorkTree, main: str, ref: str, rests: Sequence[str]) -> str:
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
