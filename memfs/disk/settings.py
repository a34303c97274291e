"""Settings: the repository's, which are hostile and can only narrow, and the user's own (DESIGN 4).

Each reader takes the YAML of :mod:`strictyaml` and the fields of ``schemas/config.json`` or
``schemas/user-config.json``; tests keep the two together.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from memfs.disk.files import READ_LIMIT, UnreadableFile, read_if_there
from memfs.disk.places import Places
from memfs.disk.private import read_decisive
from memfs.disk.shipped import read_schema
from memfs.disk.worktree import WorkTree
from memfs.disk.yaml import MAX_YAML_BYTES, Node, YamlError, as_written, find_node, parse_yaml
from memfs.errors import SetupError
from memfs.model.codepoints import escape_hidden
from memfs.model.memory import Kind
from memfs.model.scope import fits_any, is_scope
from memfs.model.values import dataclass, field

REPOSITORY_FILE = ".memfs/config.yaml"

_DEFAULTS = ("default_kind", "default_scope", "default_review")
_TRAILER = r"[A-Za-z][A-Za-z0-9-]*: \S.*"
# What a repository may add to its users' commits: nothing that tells a forge what to do, or that is a person's word.
_OWN_PREFIX = r"(?:[a-z]+(?:\([a-z0-9._/-]+\))?!?:|:[a-z_]+:|[A-Z][A-Z0-9]*-[0-9]+:?) "
_OWN_TRAILER = (
    r"(?!(?i:memfs-|admission-|skip-|fix(?:e[sd])?:|close[sd]?:|resolve[sd]?:|[a-z0-9-]*-by:))"
    r"[A-Za-z][A-Za-z0-9-]*: [A-Za-z0-9][A-Za-z0-9 ._/#+-]*"
)

CAPTURES_BY = ("anthropic", "openai", "claude-code", "codex", "gemini", "copilot", "opencode")
"""Who may read a session for drafts: two forms of asking a model, and the agents that memfs has a cage for."""

MAX_RESULTS = 50
MAX_CONTEXT_BYTES = 9500
MAX_SIGNING_TIMEOUT = 300.0
MAX_SHARED_MILLISECONDS = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositorySettings:
    """What a repository says about itself. None of it widens anything.

    ``problems`` names what was not understood. When the file as a whole cannot be read (``sound`` is
    False), whoever it restricted is not known: then nobody reads a ``restricted`` scope.
    """

    name: str | None = None
    scopes: tuple[str, ...] = ()  # empty: every scope; otherwise names and "team/*", "restricted/*"
    readers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # scope → people
    share: tuple[str, ...] = ()  # scopes that `memfs publish` gives to a shared index; a name, or "team/*"
    memory_bytes: int = READ_LIMIT
    results: int = MAX_RESULTS
    context_bytes: int = MAX_CONTEXT_BYTES
    agents_write: str = "branch"  # where agents record: "branch", the one that is checked out, or "proposal"
    default_kind: str = "observation"  # of a new memory that does not say
    default_scope: str | None = None
    default_review: str = "6m"
    commit_prefix: str = ""  # before the subject of each of memfs's commits
    commit_trailer: str = ""  # "Key: value" below it
    check: Node | None = None  # how strict `memfs check` is here; the room of check reads it
    sound: bool = True
    problems: tuple[str, ...] = ()

    def allows(self, scope: str) -> bool:
        """Return whether memories of ``scope`` belong into this repository.

        None does while the settings are broken: what they restricted is not known.
        """
        if not self.sound:
            return False
        return not self.scopes or fits_any(scope, self.scopes)

    def message(self, subject: str) -> str:
        """Return a commit message of memfs's own as this repository's linters want it."""
        head, _, rest = f"{self.commit_prefix}{subject}".partition("\n")
        body = rest.strip("\n")
        if not self.commit_trailer:
            return f"{head}\n\n{body}" if body else head
        is_trailers = bool(body) and all(
            re.fullmatch(_TRAILER, line) or line[:1] == " " for line in body.split("\n\n")[-1].split("\n")
        )
        between = "\n" if is_trailers else "\n\n"
        return f"{head}\n\n{body}{between}{self.commit_trailer}" if body else f"{head}\n\n{self.commit_trailer}"

    def shares(self, scope: str) -> bool:
        """Return whether memories of ``scope`` are published. Personal ones never are."""
        return self.allows(scope) and scope != "personal" and fits_any(scope, self.share)


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """One repository that recall looks into. What is off stays off until the user turns it on."""

    name: str
    path: Path
    recall: bool = True
    capture: bool = False  # drafts may be captured from sessions
    automatic: bool = False  # and are, when a session has been quiet for a while
    write: bool = False  # agents may write


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """Who reads a session for drafts: an agent's own program, or a model that is asked with the user's key."""

    by: str  # an agent's name, "anthropic" or "openai" (the form of the question)
    model: str = ""
    url: str = ""  # "": the maker's
    key: str = ""  # the variable that holds the key; "": the maker's usual one


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedStore:
    """A shared index on PostgreSQL. ``pins`` name the repositories whose approvals count here."""

    name: str
    url: str
    pins: tuple[str, ...] = ()
    recall: bool = True
    milliseconds: int = 150  # that a hook waits for it


@dataclass(frozen=True, slots=True, kw_only=True)
class UserSettings:
    """What the user has decided, on this machine."""

    stores: tuple[Store, ...] = ()
    shared: tuple[SharedStore, ...] = ()
    identities: tuple[str, ...] = ()
    signing_key: str | None = None
    signing_timeout: float | None = None
    model: str | None = None
    off: tuple[Path, ...] = ()  # the projects for which memfs answers nothing
    capture: Capture | None = None
    check: Node | None = None  # the least that `memfs check` must be
    problems: tuple[str, ...] = ()

    def is_off(self, folder: str | Path) -> bool:
        """Return whether the user turned memfs off in ``folder`` or above it."""
        place = Path(os.path.realpath(folder))
        return any(place.is_relative_to(os.path.realpath(path)) for path in self.off)


def read_repository_settings(tree: WorkTree) -> RepositorySettings:
    """Return the settings of the repository at ``tree``; never raises, says what was wrong with them."""
    try:
        raw = read_if_there(tree, REPOSITORY_FILE, limit=MAX_YAML_BYTES)
    except UnreadableFile as error:
        return RepositorySettings(sound=False, problems=(f"{REPOSITORY_FILE} {error.message}",))
    return RepositorySettings() if raw is None else parse_repository_settings(raw)


def parse_repository_settings(raw: bytes) -> RepositorySettings:
    """Return the settings that the text of a ``.memfs/config.yaml`` holds; never raises."""
    reader = _Reader(REPOSITORY_FILE)
    try:
        top = reader.top(
            parse_yaml(raw),
            ("version", "name", "scopes", "readers", "share", "agents", "limits", "check", "commit", *_DEFAULTS),
        )
        reader.version(top)
        limits, commit = reader.map(top, "limits"), reader.map(top, "commit")
        reader.known(commit, ("prefix", "trailer"), "commit.")
        agents = reader.map(top, "agents")
        reader.known(agents, ("write",), "agents.")
        reader.known(limits, ("memory_bytes", "results", "context_bytes"), "limits.")
        return RepositorySettings(
            name=reader.text(top, "name", longest=64),
            scopes=tuple(reader.scope_pattern(node) for node in reader.list(top, "scopes")),
            readers={
                reader.scope(Node(scope, node.line, node.column)): reader.texts_of(node)
                for scope, node in reader.map(top, "readers").items()
            },
            share=tuple(reader.scope_pattern(node) for node in reader.list(top, "share")),
            memory_bytes=reader.number(limits, "memory_bytes", most=READ_LIMIT),
            results=reader.number(limits, "results", most=MAX_RESULTS),
            context_bytes=reader.number(limits, "context_bytes", most=MAX_CONTEXT_BYTES),
            agents_write=_where_agents_write(reader, agents),
            default_kind=reader.one_of(top, "default_kind", [kind.value for kind in Kind]) or "observation",
            default_scope=reader.scope(top["default_scope"]) if "default_scope" in top else None,
            default_review=reader.text(top, "default_review", longest=64) or "6m",
            commit_prefix=reader.shaped(commit, "prefix", _OWN_PREFIX, 40, "“docs: ” or “docs(memory): ”"),
            commit_trailer=reader.shaped(
                commit, "trailer", _OWN_TRAILER, 200, "“Key: value” with a key like Change-Type"
            ),
            check=top.get("check"),
            problems=tuple(reader.problems),
        )
    except YamlError as error:
        return RepositorySettings(sound=False, problems=(f"{REPOSITORY_FILE}: {error}",))


def find_misfits(raw: bytes, schema: str) -> list[str]:
    """Return how settings do not fit the published ``schema`` (``config`` or ``user-config``), each with its line.

    jsonschema is costly to import: `check` and `doctor` ask this, recall does not. Raises :class:`YamlError`.
    """
    from memfs.model.schema import check_schema

    node = parse_yaml(raw)
    return [
        f"line {find_node(node, problem.field or '').line}: {problem}"
        for problem in check_schema(as_written(node), read_schema(schema))
    ]


def _where_agents_write(reader: _Reader, agents: Mapping[str, Node]) -> str:
    """Return ``branch`` or ``proposal``. What is not understood narrows: it is a proposal then."""
    if "write" not in agents:
        return "branch"
    wanted = reader.text(agents, "write", longest=16)
    if wanted not in ("branch", "proposal"):
        reader.problems.append("agents.write: it is branch or proposal; proposal is used")
    return "branch" if wanted == "branch" else "proposal"


def read_user_settings(places: Places) -> UserSettings:
    """Return the user's settings; the defaults where there is no file.

    Raises :class:`SetupError` for a file that others may write, that lies in a git work tree, or
    that is malformed: settings that cannot be relied on decide nothing.
    """
    path = places.config / "config.yaml"
    raw = read_decisive(path, "your settings", limit=MAX_YAML_BYTES)
    if raw is None:
        return UserSettings()
    try:
        return parse_user_settings(raw, places, str(path))
    except YamlError as error:
        raise SetupError(f"your settings cannot be read: {error}", where=str(path)) from error


def find_user_misfits(places: Places) -> list[str]:
    """Return how the user's settings do not fit the published schema."""
    raw = read_decisive(places.config / "config.yaml", "your settings", limit=MAX_YAML_BYTES)
    return [] if raw is None else find_misfits(raw, "user-config")


def parse_user_settings(raw: bytes, places: Places, where: str) -> UserSettings:
    reader = _Reader(where)
    known = (
        "version", "stores", "identities", "signing_key", "signing_timeout", "model", "off", "capture", "check",
    )  # fmt: skip
    top = reader.top(parse_yaml(raw), known)
    reader.version(top)
    parsed = [_parse_store(reader, node, places) for node in reader.list(top, "stores")]
    names = [store.name for store in parsed]
    for node, name in zip(reader.list(top, "stores"), names, strict=True):
        if names.count(name) > 1:
            raise YamlError("two stores have the same name", line=node.line, column=node.column)
    timeout = reader.number(top, "signing_timeout", most=int(MAX_SIGNING_TIMEOUT), default=0)
    return UserSettings(
        stores=tuple(store for store in parsed if isinstance(store, Store)),
        shared=tuple(store for store in parsed if isinstance(store, SharedStore)),
        identities=reader.texts(top, "identities"),
        signing_key=reader.text(top, "signing_key", longest=4096),
        signing_timeout=float(timeout) if timeout else None,
        model=reader.text(top, "model", longest=256),
        off=tuple(_folder(reader, node, places) for node in reader.list(top, "off")),
        capture=_parse_capture(reader, top),
        check=top.get("check"),
        problems=tuple(reader.problems),
    )


def _parse_capture(reader: _Reader, top: Mapping[str, Node]) -> Capture | None:
    entries = reader.map(top, "capture")
    if not entries:
        return None
    reader.known(entries, ("by", "model", "url", "key"), "capture.")
    by = reader.one_of(entries, "by", CAPTURES_BY)
    if by is None:
        raise YamlError("capture needs `by`", line=top["capture"].line, column=top["capture"].column)
    return Capture(
        by=by,
        model=reader.text(entries, "model", longest=256) or "",
        url=reader.text(entries, "url", longest=4096) or "",
        key=reader.text(entries, "key", longest=256) or "",
    )


def _parse_store(reader: _Reader, node: Node, places: Places) -> Store | SharedStore:
    entries = reader.as_map(node)
    if "postgres" in entries:
        return _parse_shared(reader, node)
    reader.known(entries, ("name", "path", "recall", "capture", "automatic", "write"), "stores.")
    name, path = reader.text(entries, "name", longest=64), reader.text(entries, "path", longest=4096)
    if not name or not path:
        raise YamlError("a store needs a name and a path", line=node.line, column=node.column)
    return Store(
        name=name,
        path=_folder(reader, entries["path"], places),
        recall=reader.switch(entries, "recall", default=True),
        capture=reader.switch(entries, "capture", default=False),
        automatic=reader.switch(entries, "automatic", default=False),
        write=reader.switch(entries, "write", default=False),
    )


def _folder(reader: _Reader, node: Node, places: Places) -> Path:
    path = reader.path(node)
    # The home is the user's from the password database, whatever $HOME says (TRUST 8).
    full = places.home / path[2:] if path.startswith("~/") else Path(path)
    if not full.is_absolute():
        raise YamlError("a folder's path starts with / or ~/", line=node.line, column=node.column)
    return full


def _parse_shared(reader: _Reader, node: Node) -> SharedStore:
    entries = reader.as_map(node)
    reader.known(entries, ("name", "postgres", "pins", "recall", "milliseconds"), "stores.")
    name, url = reader.text(entries, "name", longest=64), reader.text(entries, "postgres", longest=4096)
    if not name or not url:
        raise YamlError("a shared index needs a name and an address", line=node.line, column=node.column)
    return SharedStore(
        name=name,
        url=url,
        pins=reader.texts(entries, "pins"),
        recall=reader.switch(entries, "recall", default=True),
        milliseconds=reader.number(entries, "milliseconds", most=MAX_SHARED_MILLISECONDS, default=150),
    )


class _Reader:
    """Takes settings out of a parsed file; what is unknown is a problem, what is malformed an error."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.problems: list[str] = []

    def top(self, node: Node, known: Collection[str]) -> Mapping[str, Node]:
        entries = self.as_map(node)
        self.known(entries, known, "")
        return entries

    def known(self, entries: Mapping[str, Node], names: Collection[str], prefix: str) -> None:
        for name, node in entries.items():
            if name not in names:
                shown = escape_hidden(name[:64], single_line=True)
                self.problems.append(f"{self.where}:{node.line}: memfs does not know the setting {prefix}{shown}")

    def version(self, top: Mapping[str, Node]) -> None:
        node = top.get("version")
        if node is not None and node.value != "1":
            raise _wrong(node, "version", "1, the only one that this memfs knows")

    def as_map(self, node: Node) -> Mapping[str, Node]:
        if not isinstance(node.value, dict):
            raise _wrong(node, "this", "a map of settings")
        return node.value

    def map(self, entries: Mapping[str, Node], name: str) -> Mapping[str, Node]:
        node = entries.get(name)
        if node is None or node.value == "":
            return {}
        if not isinstance(node.value, dict):
            raise _wrong(node, name, "a map")
        return node.value

    def list(self, entries: Mapping[str, Node], name: str) -> list[Node]:
        node = entries.get(name)
        if node is None or node.value == "":
            return []
        if not isinstance(node.value, list):
            raise _wrong(node, name, "a list")
        return node.value

    def text(self, entries: Mapping[str, Node], name: str, *, longest: int) -> str | None:
        node = entries.get(name)
        return None if node is None else self._text(node, name, longest)

    def path(self, node: Node) -> str:
        return self._text(node, "path", 4096)

    def texts(self, entries: Mapping[str, Node], name: str) -> tuple[str, ...]:
        return tuple(self._text(node, name, 256) for node in self.list(entries, name))

    def texts_of(self, node: Node) -> tuple[str, ...]:
        if not isinstance(node.value, list):
            raise _wrong(node, "readers", "a list of people for each scope")
        return tuple(self._text(item, "readers", 256) for item in node.value)

    def switch(self, entries: Mapping[str, Node], name: str, *, default: bool) -> bool:
        node = entries.get(name)
        if node is None:
            return default
        if node.value not in ("true", "false"):
            raise _wrong(node, name, "true or false")
        return node.value == "true"

    def number(self, entries: Mapping[str, Node], name: str, *, most: int, default: int | None = None) -> int:
        node = entries.get(name)
        if node is None:
            return most if default is None else default
        if not isinstance(node.value, str) or not node.value.isascii() or not node.value.isdecimal():
            raise _wrong(node, name, "a whole number")
        value = int(node.value[:12])
        if value < 1:
            raise _wrong(node, name, "at least 1")
        return min(value, most)

    def scope(self, node: Node) -> str:
        if not isinstance(node.value, str) or not is_scope(node.value):
            raise _wrong(node, "a scope", "personal, team, team/NAME or restricted/NAME")
        return node.value

    def one_of(self, entries: Mapping[str, Node], name: str, values: Sequence[str]) -> str | None:
        node = entries.get(name)
        if node is not None and node.value not in values:
            raise _wrong(node, name, f"one of {', '.join(values)}")
        return None if node is None else str(node.value)

    def shaped(self, entries: Mapping[str, Node], name: str, pattern: str, longest: int, what: str) -> str:
        text = self.text(entries, name, longest=longest) or ""
        if text and not re.fullmatch(pattern, text):
            raise _wrong(entries[name], name, what)
        return text

    def scope_pattern(self, node: Node) -> str:
        if isinstance(node.value, str) and (is_scope(node.value) or node.value in ("team/*", "restricted/*")):
            return node.value
        raise _wrong(
            node, "scopes", "a list of scopes: personal, team, team/NAME, team/*, restricted/NAME, restricted/*"
        )

    def _text(self, node: Node, name: str, longest: int) -> str:
        if not isinstance(node.value, str) or not node.value.strip() or not node.value.isprintable():
            raise _wrong(node, name, "a text")
        if len(node.value) > longest:
            raise _wrong(node, name, f"at most {longest} characters")
        return node.value


def _wrong(node: Node, name: str, wanted: str) -> YamlError:
    return YamlError(f"{name} must be {wanted}", line=node.line, column=node.column)
