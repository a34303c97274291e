"""Settings: the repository's, which are hostile and can only narrow, and the user's own (DESIGN 4).

Each reader takes the YAML of :mod:`strictyaml` and the fields of ``schemas/config.json`` or
``schemas/user-config.json``; tests keep the two together.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

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
MAX_SIGNING_TIMEOUT = 300
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
    limits = {
        "memory_bytes": _number(READ_LIMIT),
        "results": _number(MAX_RESULTS),
        "context_bytes": _number(MAX_CONTEXT_BYTES),
    }
    commit = {
        "prefix": _shaped(_OWN_PREFIX, 40, "“docs: ” or “docs(memory): ”"),
        "trailer": _shaped(_OWN_TRAILER, 200, "“Key: value” with a key like Change-Type"),
    }
    known = {
        "version": _version,
        "name": _text(64),
        "scopes": _list_of(_scope_pattern),
        "readers": _readers,
        "share": _list_of(_scope_pattern),
        "agents": reader.map({"write": reader.where_agents_write}, "agents."),
        "limits": reader.map(limits, "limits."),
        "check": _as_it_is,
        "commit": reader.map(commit, "commit."),
        "default_kind": _one_of([kind.value for kind in Kind]),
        "default_scope": _scope,
        "default_review": _text(64),
    }
    try:
        said = reader.take(parse_yaml(raw), "this", known)
    except YamlError as error:
        return RepositorySettings(sound=False, problems=(f"{REPOSITORY_FILE}: {error}",))
    said.pop("version", None)
    for group, start in (("limits", ""), ("commit", "commit_"), ("agents", "agents_")):
        said.update((f"{start}{name}", value) for name, value in said.pop(group, {}).items())
    return RepositorySettings(**said, problems=tuple(reader.problems))


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
    """Return the settings that the text of a user's file holds. Raises :class:`YamlError`."""
    reader = _Reader(where)
    names: set[str] = set()

    def folder(node: Node, _name: str) -> Path:
        path = _text(4096)(node, "path")
        # The home is the user's from the password database, whatever $HOME says (TRUST 8).
        full = places.home / path[2:] if path.startswith("~/") else Path(path)
        if not full.is_absolute():
            raise YamlError("a folder's path starts with / or ~/", line=node.line, column=node.column)
        return full

    def store(node: Node, _name: str) -> Store | SharedStore:
        is_shared = isinstance(node.value, dict) and "postgres" in node.value
        own = {"path": folder, "capture": _switch, "automatic": _switch, "write": _switch}
        shared = {"postgres": _text(4096), "pins": _texts, "milliseconds": _number(MAX_SHARED_MILLISECONDS)}
        both = {"name": _text(64), "recall": _switch}
        said = reader.take(node, "this", both | (shared if is_shared else own), "stores.")
        if not said.keys() >= {"name", "postgres" if is_shared else "path"}:
            what = "a shared index needs a name and an address" if is_shared else "a store needs a name and a path"
            raise YamlError(what, line=node.line, column=node.column)
        if said["name"] in names:
            raise YamlError("two stores have the same name", line=node.line, column=node.column)
        names.add(said["name"])
        return SharedStore(url=said.pop("postgres"), **said) if is_shared else Store(**said)

    def capture(node: Node, name: str) -> Capture | None:
        known = {"by": _one_of(CAPTURES_BY), "model": _text(256), "url": _text(4096), "key": _text(256)}
        said = reader.map(known, "capture.")(node, name)
        if node.value and "by" not in said:
            raise YamlError("capture needs `by`", line=node.line, column=node.column)
        return Capture(**said) if node.value else None

    known = {
        "version": _version,
        "stores": _list_of(store),
        "identities": _texts,
        "signing_key": _text(4096),
        "signing_timeout": lambda node, name: float(_number(MAX_SIGNING_TIMEOUT)(node, name)),
        "model": _text(256),
        "off": _list_of(folder),
        "capture": capture,
        "check": _as_it_is,
    }
    said = reader.take(parse_yaml(raw), "this", known)
    said.pop("version", None)
    stores = said.pop("stores", ())
    return UserSettings(
        stores=tuple(one for one in stores if isinstance(one, Store)),
        shared=tuple(one for one in stores if isinstance(one, SharedStore)),
        problems=tuple(reader.problems),
        **said,
    )


# How a setting is taken: its node and its name give what it means, or YamlError.
Take = Callable[[Node, str], Any]


class _Reader:
    """Takes maps of settings out of a parsed file; what is unknown is a problem, what is malformed an error."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.problems: list[str] = []

    def take(self, node: Node, name: str, known: Mapping[str, Take], prefix: str = "") -> dict[str, Any]:
        """Return what the map ``node`` says, by the names of ``known``."""
        if not isinstance(node.value, dict):
            raise _wrong(node, name, "a map of settings")
        for key, below in node.value.items():
            if key not in known:
                shown = escape_hidden(key[:64], single_line=True)
                self.problems.append(f"{self.where}:{below.line}: memfs does not know the setting {prefix}{shown}")
        return {key: known[key](below, key) for key, below in node.value.items() if key in known}

    def map(self, known: Mapping[str, Take], prefix: str) -> Take:
        return lambda node, name: self.take(node, name, known, prefix) if node.value != "" else {}

    def where_agents_write(self, node: Node, name: str) -> str:
        """Return ``branch`` or ``proposal``. What is not understood narrows: it is a proposal then."""
        wanted = _text(16)(node, name)
        if wanted not in ("branch", "proposal"):
            self.problems.append("agents.write: it is branch or proposal; proposal is used")
        return "branch" if wanted == "branch" else "proposal"


def _as_it_is(node: Node, _name: str) -> Node:
    return node


def _version(node: Node, name: str) -> None:
    if node.value != "1":
        raise _wrong(node, name, "1, the only one that this memfs knows")


def _text(longest: int) -> Callable[[Node, str], str]:
    def take(node: Node, name: str) -> str:
        if not isinstance(node.value, str) or not node.value.strip() or not node.value.isprintable():
            raise _wrong(node, name, "a text")
        if len(node.value) > longest:
            raise _wrong(node, name, f"at most {longest} characters")
        return node.value

    return take


def _shaped(pattern: str, longest: int, what: str) -> Take:
    def take(node: Node, name: str) -> str:
        text = _text(longest)(node, name)
        if not re.fullmatch(pattern, text):
            raise _wrong(node, name, what)
        return text

    return take


def _list_of(item: Take) -> Take:
    def take(node: Node, name: str) -> tuple[Any, ...]:
        if node.value == "":
            return ()
        if not isinstance(node.value, list):
            raise _wrong(node, name, "a list")
        return tuple(item(one, name) for one in node.value)

    return take


_texts = _list_of(_text(256))


def _number(most: int) -> Callable[[Node, str], int]:
    def take(node: Node, name: str) -> int:
        if not isinstance(node.value, str) or not node.value.isascii() or not node.value.isdecimal():
            raise _wrong(node, name, "a whole number")
        value = int(node.value[:12])
        if value < 1:
            raise _wrong(node, name, "at least 1")
        return min(value, most)

    return take


def _one_of(values: Sequence[str]) -> Take:
    def take(node: Node, name: str) -> str:
        if node.value not in values:
            raise _wrong(node, name, f"one of {', '.join(values)}")
        return str(node.value)

    return take


def _switch(node: Node, name: str) -> bool:
    if node.value not in ("true", "false"):
        raise _wrong(node, name, "true or false")
    return node.value == "true"


def _scope(node: Node, _name: str) -> str:
    if not isinstance(node.value, str) or not is_scope(node.value):
        raise _wrong(node, "a scope", "personal, team, team/NAME or restricted/NAME")
    return node.value


def _scope_pattern(node: Node, name: str) -> str:
    if isinstance(node.value, str) and (is_scope(node.value) or node.value in ("team/*", "restricted/*")):
        return node.value
    raise _wrong(node, name, "a list of scopes: personal, team, team/NAME, team/*, restricted/NAME, restricted/*")


def _readers(node: Node, name: str) -> dict[str, tuple[str, ...]]:
    found = {}
    if node.value != "" and not isinstance(node.value, dict):
        raise _wrong(node, name, "a map of settings")
    for scope, below in node.value.items() if isinstance(node.value, dict) else ():
        if not isinstance(below.value, list):
            raise _wrong(below, name, "a list of people for each scope")
        found[_scope(Node(scope, below.line, below.column), name)] = _texts(below, name)
    return found


def _wrong(node: Node, name: str, wanted: str) -> YamlError:
    return YamlError(f"{name} must be {wanted}", line=node.line, column=node.column)
