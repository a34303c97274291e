"""The pages over HTTP: loopback only, read-only, and nothing without the token in the address.

A page in a browser can reach loopback too. The Host header is checked (a name that an attacker points at
127.0.0.1 is refused), the token is random for each run, and the policy lets no page load or run anything.
"""

from __future__ import annotations

import hmac
import secrets
import sys
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from memfs.browse.catalogue import Catalogue, Shelf
from memfs.browse.items import parse_filters
from memfs.browse.pages import POLICY, ServerLinks, Site, own_file, render_problem
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
    waiting_page,
)
from memfs.errors import MemfsError
from memfs.model.codepoints import escape_hidden
from memfs.model.scope import Caller
from memfs.repository.repository import Repository
from memfs.review.change import Review

LOOPBACK = "127.0.0.1"
MAX_PATH = 4096
_KEPT_REVIEWS = 8
_OWN = {"style.css": "text/css; charset=utf-8", "memfs.js": "text/javascript; charset=utf-8"}

HEADERS = {
    "Content-Security-Policy": POLICY.format(own="'self'"),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",  # the address holds the token
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "interest-cohort=()",
    "Cache-Control": "no-store",
}


class Pages:
    """What is answered at each address below the token."""

    def __init__(self, repository: Repository, caller: Caller, *, name: str, about: str, pin: str | None) -> None:
        self.repository = repository
        self.shelf = Shelf(repository, caller, pin=pin)
        self.name = name
        self.about = about
        self.pin = pin
        self._links = ServerLinks()
        self._reviews: dict[tuple[str, str], Review] = {}
        self._lock = threading.Lock()

    def answer(self, path: str, query: dict[str, str]) -> tuple[int, str, bytes]:
        """Return status, content type and body for ``path`` (without its leading slash)."""
        if path in _OWN:
            return HTTPStatus.OK, _OWN[path], own_file(path)
        catalogue = self.shelf.current()
        site = self._site(catalogue)
        page: str | None = None
        if path in ("", "index.html"):
            page = list_page(site, catalogue, parse_filters(query), self._links)
        elif path == "due.html":
            page = due_page(site, catalogue, self.repository.today, self._links)
        elif path == "waiting.html":
            page = waiting_page(site, catalogue, self.repository.today, self._links)
        elif path == "map.html":
            page = map_page(site, catalogue, self._links)
        elif path == "review.html":
            page = self._review(site, query)
        elif path.startswith("m/") and path.endswith(".html"):
            item = catalogue.by_key.get(path[2:-5])
            if item is not None:
                looks = find_looks(self.repository, self.shelf.caller, catalogue, item)
                page = memory_page(site, catalogue, item, self._links, settings=self.repository.settings, looks=looks)
        if page is not None:
            return HTTPStatus.OK, "text/html; charset=utf-8", page.encode("utf-8", "backslashreplace")
        text = render_problem(
            site, "Nothing is here", "No page, or no memory for you, has this address.", root=_root(path)
        )
        return HTTPStatus.NOT_FOUND, "text/html; charset=utf-8", text.encode()

    def _site(self, catalogue: Catalogue) -> Site:
        return make_site(catalogue, name=self.name, about=self.about, today=self.repository.today, review=True)

    def _review(self, site: Site, query: dict[str, str]) -> str:
        main, branches = find_branches(self.repository.tree, self.repository.sight.for_caller(self.shelf.caller))
        wanted = query.get("branch")
        chosen = next((branch.name for branch in branches if branch.name == wanted), None)
        if wanted is not None and chosen is None:
            message = "No branch of this name changes a memory, or a file that one rests on."
            return render_problem(site, "Nothing to review", message, root="")
        review = None
        if chosen is not None and main is not None:
            review = self._reviewed(main, chosen)
        hrefs = {branch.name: f"review.html?{urlencode({'branch': branch.name})}" for branch in branches}
        return review_page(site, self._links, main=main, branches=branches, chosen=chosen, review=review, hrefs=hrefs)

    def _reviewed(self, main: str, branch: str) -> Review:
        from memfs.git.snapshot import require_commit

        key = (require_commit(self.repository.tree, main), require_commit(self.repository.tree, branch))
        with self._lock:
            kept = self._reviews.get(key)
        if kept is not None:
            return kept
        review = review_branch(self.repository, self.shelf.caller, main, branch, pin=self.pin)
        with self._lock:
            while len(self._reviews) >= _KEPT_REVIEWS:
                self._reviews.pop(next(iter(self._reviews)))
            self._reviews[key] = review
        return review


class Server(ThreadingHTTPServer):
    """Listens on loopback. ``address`` is what the user opens."""

    daemon_threads = True
    allow_reuse_address = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing where a browser went away in the middle; a fault of memfs's own is shown."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def __init__(self, pages: Pages, *, port: int = 0, draw_token: Callable[[], str] | None = None) -> None:
        super().__init__((LOOPBACK, port), _Handler)
        self.pages = pages
        self.token = (draw_token or (lambda: secrets.token_urlsafe(24)))()
        self.hosts = {f"{name}:{self.server_port}" for name in (LOOPBACK, "localhost")}

    @property
    def address(self) -> str:
        return f"http://{LOOPBACK}:{self.server_port}/{self.token}/"


class _Handler(BaseHTTPRequestHandler):
    server: Server
    timeout = 10
    protocol_version = "HTTP/1.1"
    server_version = "memfs"
    sys_version = ""

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def _refuse(self) -> None:
        self._send(HTTPStatus.METHOD_NOT_ALLOWED, "text/plain; charset=utf-8", b"read only\n", with_body=True)
        self.close_connection = True

    do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_TRACE = do_CONNECT = _refuse

    def _answer(self, *, with_body: bool) -> None:
        status, kind, body = self._find()
        self._send(status, kind, body, with_body=with_body)

    def _find(self) -> tuple[int, str, bytes]:
        nothing = (HTTPStatus.NOT_FOUND, "text/plain; charset=utf-8", b"nothing is here\n")
        if self.headers.get("Host", "").lower() not in self.server.hosts:
            return HTTPStatus.MISDIRECTED_REQUEST, "text/plain; charset=utf-8", b"not this host\n"
        if len(self.path) > MAX_PATH:
            return nothing
        try:
            parts = urlsplit(self.path)
            path = unquote(parts.path, errors="strict")
            query = dict(parse_qsl(parts.query, max_num_fields=20))
        except ValueError:
            return nothing
        token, slash, rest = path.removeprefix("/").partition("/")
        if not hmac.compare_digest(token.encode(), self.server.token.encode()) or not slash:
            return nothing
        try:
            return self.server.pages.answer(rest, query)
        except MemfsError as error:
            text = f"{escape_hidden(str(error))}\n".encode()
            return HTTPStatus.INTERNAL_SERVER_ERROR, "text/plain; charset=utf-8", text

    def _send(self, status: int, kind: str, body: bytes, *, with_body: bool) -> None:
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if with_body:
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
        """Say nothing: a request line contains the token."""


def _root(path: str) -> str:
    return "../" * path.count("/")
