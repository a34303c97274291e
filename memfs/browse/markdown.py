"""A memory's Markdown as HTML: no raw HTML, no image is loaded, only web links can be followed. Pure.

Hidden characters are made visible before the Markdown is read, so that none can steer it.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from memfs.disk.installed import install_command
from memfs.errors import SetupError
from memfs.model.codepoints import escape_hidden

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token
    from markupsafe import Markup

MAX_MARKDOWN = 32 * 1024
"""Longest text, in characters, that is rendered; a longer one is shown as it is."""


def render_markdown(text: str) -> Markup:
    """Return ``text`` as safe HTML: raw HTML shown as text, links to anything but http(s) inert."""
    from markupsafe import Markup

    shown = escape_hidden(text).replace("\r", "")
    if len(shown) > MAX_MARKDOWN:
        return Markup('<pre class="source">{}</pre>').format(shown)
    return Markup(_parser().render(shown))  # noqa: S704 - markdown-it escapes all text with html off


@cache
def _parser() -> MarkdownIt:
    try:
        from markdown_it import MarkdownIt
    except ImportError as error:
        raise SetupError("the pages need markdown-it-py", hint=install_command("browse")) from error
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": 20}).enable("table")
    setattr(parser, "validateLink", _take_link)  # noqa: B010 - the documented way; as an assignment it has no type
    rules = {
        "link_open": _link_open,
        "link_close": _link_close,
        "image": _image,
        "heading_open": _heading,
        "heading_close": _heading,
    }
    for name, rule in rules.items():
        parser.add_render_rule(name, rule)
    return parser


def _take_link(_url: str) -> bool:
    """Let every link become a token: _link_open decides what it may be."""
    return True


def find_host(url: str) -> str | None:
    """Return the host of a web address as it would be looked up, None for anything else."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not host:
        return None
    try:
        return host.encode("idna").decode("ascii")  # a look-alike letter shows as xn--…
    except UnicodeError:
        return None


def _link_open(_renderer: object, tokens: Sequence[Token], place: int, *_rest: object) -> str:
    url = str(tokens[place].attrGet("href") or "")
    if find_host(url) is None:
        return '<span class="inert">'
    return f'<a href="{html.escape(url)}" rel="noreferrer noopener nofollow">'


def _link_close(_renderer: object, tokens: Sequence[Token], place: int, *_rest: object) -> str:
    depth = 0
    for before in range(place - 1, -1, -1):  # the opening token of this link
        kind = tokens[before].type
        depth += (kind == "link_close") - (kind == "link_open")
        if depth < 0:
            break
    url = str(tokens[before].attrGet("href") or "")
    text = "".join(token.content for token in tokens[before:place])
    host = find_host(url)
    if host is None:
        return f' <span class="target">({html.escape(escape_hidden(url, single_line=True))})</span></span>'
    shown = "" if text.rstrip("/") == url.rstrip("/") else f' <span class="target">{html.escape(host)}</span>'
    return f"</a>{shown}"


def _image(_renderer: object, tokens: Sequence[Token], place: int, *_rest: object) -> str:
    token = tokens[place]
    url = escape_hidden(str(token.attrGet("src") or ""), single_line=True)
    target = f'<span class="target">({html.escape(url)})</span>'
    return f'<span class="inert">[image: {html.escape(token.content)}] {target}</span>'


def _heading(_renderer: object, tokens: Sequence[Token], place: int, *_rest: object) -> str:
    token = tokens[place]
    tag = f"h{min(6, int(token.tag[1]) + 2)}"  # below the page's own headings
    return f"<{tag}>" if token.nesting == 1 else f"</{tag}>\n"
