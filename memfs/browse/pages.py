"""Pages from values: Jinja2 with everything escaped, and every hidden character visible.

``finalize`` is the safety net: whatever text a template prints goes through ``escape_hidden`` first
and through HTML escaping after it. Nothing here reads a repository.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote, urlencode

from memfs.browse.items import PAGE_SIZE, SORTS, Filters, Item, Listing
from memfs.disk.installed import install_command
from memfs.errors import SetupError
from memfs.model.codepoints import escape_hidden
from memfs.model.values import asdict, dataclass, replace

if TYPE_CHECKING:
    from datetime import date

    from jinja2 import Environment

    from memfs.propose.remote import Forge

_HERE = Path(__file__).parent
MAX_DUE = 200

POLICY = (
    "default-src 'none'; style-src {own}; script-src {own}; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'"
)
"""The content security policy: memfs's own style sheet and script files, no picture, nothing from elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """What is on every page."""

    name: str
    about: str
    due: int = 0
    waiting: int = 0
    review_href: str | None = None
    search_href: str = "index.html#q"
    forge: Forge | None = None
    branch: str = ""  # whose files the forge is asked for
    notices: tuple[str, ...] = ()

    def file_href(self, path: str) -> str | None:
        """Return the forge's page of a file of the repository."""
        return self.forge.file_address(path, self.branch) if self.forge is not None and self.branch else None

    def ground_href(self, text: str) -> str | None:
        """Return the forge's page of the file that a piece of evidence names."""
        path = ground_of(text)
        return self.file_href(path) if path is not None else None

    def commit_href(self, name: str) -> str | None:
        """Return the forge's page of a commit."""
        is_name = 7 <= len(name) <= 64 and not set(name) - set("0123456789abcdef")
        return self.forge.commit_address(name) if self.forge is not None and is_name else None


def ground_of(text: str) -> str | None:
    """Return the path that a piece of evidence of this repository names."""
    path, at, tie = text.rpartition("@")
    if not at or not tie or "://" in text or " " in tie or ":" in path:
        return None
    return path.partition("#")[0] or None


class Links(Protocol):
    """How one page addresses another: with a query on the server, as file names in an export."""

    @property
    def search(self) -> bool: ...
    @property
    def csp(self) -> str | None: ...

    def listing(self, filters: Filters) -> str | None: ...


@dataclass(frozen=True, slots=True)
class ServerLinks:
    """Addresses with the filters in their query."""

    search: bool = True
    csp: str | None = None

    def listing(self, filters: Filters) -> str | None:
        given = {k: v for k, v in asdict(filters).items() if v and (k, v) not in (("sort", "newest"), ("page", 1))}
        return "index.html" + (f"?{urlencode(given)}" if given else "")


@dataclass(frozen=True, slots=True)
class StaticLinks:
    """File names for the lists that an export holds: whole, and narrowed by one filter."""

    search: bool = False
    csp: str | None = POLICY.format(own="'self' file:").replace(" frame-ancestors 'none';", "")

    def listing(self, filters: Filters) -> str | None:
        name = static_name(filters)
        return None if name is None else quote(name)


def static_name(filters: Filters) -> str | None:
    """Return the file of a list in an export; None for a combination that it does not hold."""
    chosen = [(name, getattr(filters, name)) for name in ("state", "trust", "kind", "scope") if getattr(filters, name)]
    if filters.q or filters.topic or len(chosen) > 1 or filters.sort != "newest":
        return None
    stem = "-".join(["index", *(f"{name}-{value}".replace("/", "--").replace(" ", "-") for name, value in chosen)])
    return f"{stem}.html" if filters.page == 1 else f"{stem}-{filters.page}.html"


def memory_href(key: str) -> str:
    """Return the address of a memory's page, relative to the site's top."""
    return quote(f"m/{key}.html")


def own_file(name: str) -> bytes:
    """Return the style sheet or the script."""
    return (_HERE / name).read_bytes()


def require_extra() -> None:
    """Raise :class:`SetupError` where the packages that make pages are not installed."""
    from memfs.browse.markdown import render_markdown

    _environment()
    render_markdown("x")


def render_page(template: str, *, root: str = "", **values: Any) -> str:
    """Return one page; ``root`` leads from it to the site's top (``../../``)."""
    return _environment().get_template(template).render(root=root, **values)


def as_markup(picture: str) -> Any:
    """Return a picture of :func:`memfs.browse.graph.draw_graph`, which escapes every label, as a part of a page."""
    from markupsafe import Markup

    return Markup(picture)  # noqa: S704 - see above


def render_list(site: Site, listing: Listing, filters: Filters, links: Links) -> str:
    """Return one page of the list of memories."""
    titles = {"state": "State", "trust": "Trust", "kind": "Kind", "scope": "Scope"}
    facets = []
    for name, title in titles.items():
        choices = []
        for value, count in listing.facets.get(name, ()):
            chosen = getattr(filters, name) == value
            target = filters.without(name) if chosen else filters.narrowed(name, value)
            if not links.search and not chosen:
                target = Filters().narrowed(name, value)
            href = links.listing(target)
            if href is not None:
                label = {"recheck": "look again", "unknown": "cannot be told here"}.get(value, value)
                choices.append({"label": label, "count": count, "href": href, "chosen": chosen})
        if choices:
            facets.append({"title": title, "choices": choices})
    chips = [
        {"label": f"“{value}”" if name == "q" else value, "href": links.listing(filters.without(name)) or "index.html"}
        for name in ("q", "state", "trust", "kind", "scope", "topic")
        if (value := getattr(filters, name))
    ]
    sorts = [
        {"label": sort, "href": href, "chosen": sort == filters.sort}
        for sort in SORTS
        if links.search and (href := links.listing(replace(filters, sort=sort, page=1)))
    ]
    return render_page(
        "list.html",
        site=site,
        here="list",
        heading=_heading(listing.total, bool(chips)),
        listing=listing,
        filters=asdict(filters),
        facets=facets,
        chips=chips,
        sorts=sorts,
        search=links.search,
        csp=links.csp,
        narrow=narrow_with(links),
        words=filters.words(),
        previous=links.listing(replace(filters, page=listing.page - 1)) if listing.page > 1 else None,
        next=links.listing(replace(filters, page=listing.page + 1)) if listing.page < listing.pages else None,
        page_size=PAGE_SIZE,
    )


def narrow_with(links: Links, root: str = "") -> Callable[[str, str], str | None]:
    """Return where a list is narrowed to one value of a filter."""

    def narrow(name: str, value: str) -> str | None:
        href = links.listing(Filters().narrowed(name, value))
        return None if href is None else root + href

    return narrow


def render_due(site: Site, due: Mapping[str, Sequence[Item]], links: Links, *, days: int) -> str:
    """Return the page of what must be looked at again."""
    return render_page(
        "due.html",
        site=site,
        here="due",
        csp=links.csp,
        now=due["now"][:MAX_DUE],
        now_left=max(0, len(due["now"]) - MAX_DUE),
        more_href=links.listing(Filters(state="recheck")) or "index.html",
        soon=due["soon"][:MAX_DUE],
        days=days,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineEvent:
    """One point in a memory's life. ``tone`` is good, warn, bad or plain."""

    what: str
    who: str = ""
    on: date | str | None = None
    where: str = ""
    detail: str = ""
    tone: str = "plain"


def render_memory(
    site: Site,
    item: Item,
    links: Links,
    *,
    statement: str,
    body: str,
    graph: str,
    events: Sequence[TimelineEvent],
    facts: Sequence[tuple[str, str]],
    trust_sentence: str,
    source: str,
    digest: str,
    tags: Sequence[str] = (),
    applies_to: Sequence[str] = (),
    looks: Sequence[Mapping[str, Any]] = (),
) -> str:
    """Return the page of one memory. ``body`` is its Markdown without the statement; ``source`` the
    whole file as text, empty where it is withheld."""
    from memfs.browse.markdown import render_markdown

    root = "../" * (item.key.count("/") + 1)
    return render_page(
        "memory.html",
        root=root,
        site=site,
        here="memory",
        csp=links.csp,
        item=item,
        statement=statement,
        body=render_markdown(body) if body.strip() else "",
        graph=as_markup(graph),
        events=events,
        facts=[(name, value) for name, value in facts if value],
        trust_sentence=trust_sentence,
        source=source,
        digest=digest,
        tags=tags,
        applies_to=applies_to,
        looks=looks,
        narrow=narrow_with(links, root),
        scope_href=root + (links.listing(Filters(scope=item.scope)) or "index.html"),
    )


def render_problem(site: Site, heading: str, sentence: str, *, root: str = "", csp: str | None = None) -> str:
    """Return a page that says that there is nothing, or why not."""
    return render_page("problem.html", root=root, site=site, here="", csp=csp, heading=heading, sentence=sentence)


def _heading(total: int, narrowed: bool) -> str:
    if total == 1:
        return "1 memory"
    return f"{total:,} memories" if total or not narrowed else "No memories"


@cache
def _environment() -> Environment:
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError as error:
        raise SetupError("the pages need Jinja2", hint=install_command("browse")) from error
    from markupsafe import Markup, escape

    from memfs.browse.markdown import find_host

    def visible(value: Any) -> Any:
        return escape_hidden(value) if type(value) is str else value

    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=visible,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )

    def marked(value: str, words: Sequence[str]) -> Markup:
        shown = escape_hidden(value)
        hits = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True)) or "(?!)"
        pieces = re.split(f"({hits})", shown, flags=re.IGNORECASE)
        joined = (f"<mark>{escape(piece)}</mark>" if place % 2 else escape(piece) for place, piece in enumerate(pieces))
        return Markup("".join(joined))  # noqa: S704 - each piece is escaped

    environment.filters["marked"] = marked
    environment.globals["no_links"] = lambda _name, _value: None
    environment.filters["memory_href"] = memory_href
    environment.filters["thousands"] = lambda number: f"{number:,}"
    environment.filters["host"] = find_host
    return environment
