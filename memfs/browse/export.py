"""The pages as a static site: the same, with a list for each filter alone and a search that needs JavaScript."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from memfs.browse.catalogue import Catalogue, read_catalogue
from memfs.browse.items import Filters, list_items
from memfs.browse.pages import Site, StaticLinks, own_file, static_name
from memfs.browse.site import (
    due_page,
    find_branches,
    find_looks,
    list_page,
    make_site,
    map_page,
    memory_page,
    review_branch,
    review_page,
    search_data,
    search_page,
    waiting_page,
)
from memfs.errors import MemfsError, SetupError, UsageError
from memfs.model.scope import Caller
from memfs.repository.repository import Repository

MAX_REVIEWS = 50
"""Most branches that get a page of their own."""

MARK = ".memfs-browse"
"""A file in every exported site: only a folder that has it, or an empty one, is written into."""


def export_site(
    repository: Repository,
    caller: Caller,
    folder: Path,
    *,
    name: str,
    about: str,
    pin: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Write the site into ``folder`` and return the number of pages.

    Raises :class:`UsageError` for a folder that holds something else, and :class:`SetupError` when it
    cannot be written.
    """
    _require_free(folder)
    catalogue = read_catalogue(repository, caller, pin=pin)
    written: set[str] = set()
    try:
        _write(folder, MARK, b"a static site that memfs writes and replaces\n")
        for own in ("style.css", "memfs.js"):
            _write(folder, own, own_file(own))
        _write(folder, "search-data.js", search_data(catalogue))
        total = len(catalogue.items)
        for place, (path, text) in enumerate(_pages(repository, caller, catalogue, name=name, about=about, pin=pin)):
            _write(folder, path, text.encode("utf-8", "backslashreplace"))
            written.add(path)
            if progress is not None:
                progress(place, total)
        _remove_old(folder, written)
    except OSError as error:
        raise SetupError(f"the site cannot be written: {error.strerror}", where=str(folder)) from error
    return len(written)


def _pages(
    repository: Repository, caller: Caller, catalogue: Catalogue, *, name: str, about: str, pin: str | None
) -> Iterator[tuple[str, str]]:
    links = StaticLinks()
    site = make_site(catalogue, name=name, about=about, today=repository.today, review=True, search="search.html")
    yield from _reviews(repository, caller, site, links, pin)
    yield "search.html", search_page(site, links)
    yield "waiting.html", waiting_page(site, catalogue, repository.today, links, drafts=False)
    yield "map.html", map_page(site, catalogue, links)
    yield "due.html", due_page(site, catalogue, repository.today, links)
    whole = Filters()
    facets = list_items(catalogue.items, whole).facets
    for filters in [whole, *(whole.narrowed(facet, value) for facet, found in facets.items() for value, _ in found)]:
        for page in range(1, list_items(catalogue.items, filters).pages + 1):
            on_page = Filters(
                scope=filters.scope, kind=filters.kind, state=filters.state, trust=filters.trust, page=page
            )
            path = static_name(on_page)
            if path is not None:
                yield path, list_page(site, catalogue, on_page, links)
    for item in catalogue.items:
        yield (
            f"m/{item.key}.html",
            memory_page(
                site,
                catalogue,
                item,
                links,
                settings=repository.settings,
                looks=find_looks(repository, caller, catalogue, item),
            ),
        )


def _reviews(
    repository: Repository, caller: Caller, site: Site, links: StaticLinks, pin: str | None
) -> Iterator[tuple[str, str]]:
    """Yield the page of the branches, and one page for each of the newest."""
    main, branches = find_branches(repository.tree, repository.sight.for_caller(caller))
    hrefs = {branch.name: f"review-{place}.html" for place, branch in enumerate(branches[:MAX_REVIEWS], 1)}
    yield (
        "review.html",
        review_page(site, links, main=main, branches=branches, chosen=None, review=None, hrefs=hrefs),
    )
    for name, href in hrefs.items():
        try:
            review = review_branch(repository, caller, main or "", name, pin=pin)
        except MemfsError:
            continue  # two histories that do not meet have nothing to compare
        yield href, review_page(site, links, main=main, branches=branches, chosen=name, review=review, hrefs=hrefs)


def _require_free(folder: Path) -> None:
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise UsageError("that is not a folder", where=str(folder))
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARK).is_file():
        raise UsageError("the folder holds something else", where=str(folder), hint="name a new or an empty folder")


def _write(folder: Path, path: str, content: bytes) -> None:
    place = folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    # A link that somebody put in the way is replaced, not followed.
    temporary = place.with_name(f".{place.name}.tmp")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    with os.fdopen(fd, "wb") as file:
        file.write(content)
    os.replace(temporary, place)


def _remove_old(folder: Path, written: set[str]) -> None:
    """Delete pages of an earlier export that nothing leads to any more."""
    for place in folder.rglob("*.html"):
        if place.relative_to(folder).as_posix() not in written and place.is_file():
            place.unlink()
