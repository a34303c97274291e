"""Settings: a repository's can only narrow, a user's only count where nobody else can change them (TRUST 8)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support import git

from memfs.disk.changing import add_store
from memfs.disk.files import READ_LIMIT
from memfs.disk.places import Places
from memfs.disk.settings import (
    MAX_CONTEXT_BYTES,
    MAX_RESULTS,
    RepositorySettings,
    Store,
    UserSettings,
    parse_repository_settings,
    read_repository_settings,
    read_user_settings,
)
from memfs.disk.shipped import iter_template, read_schema
from memfs.disk.worktree import WorkTree
from memfs.disk.yaml import MAX_YAML_BYTES, Node, YamlError, parse_yaml
from memfs.errors import SetupError
from memfs.model.schema import check_schema


def _plain(node: Node) -> Any:
    if isinstance(node.value, dict):
        return {key: _plain(value) for key, value in node.value.items()}
    if isinstance(node.value, list):
        return [_plain(item) for item in node.value]
    return node.value


def _user(places: Places, text: str) -> Path:
    places.config.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = places.config / "config.yaml"
    file.write_text(text)
    file.chmod(0o600)
    return file


# The YAML


def test_maps_lists_and_texts_are_read_and_every_scalar_stays_text() -> None:
    raw = b"a: no\nb: [1, 2.0, 0123, null, ~]\nc:\n  - d: 2024-02-30\n    e: 'x: y'\nf: \"q\\n\"\ng:\n# the end\n"
    wanted = {
        "a": "no",
        "b": ["1", "2.0", "0123", "null", "~"],
        "c": [{"d": "2024-02-30", "e": "x: y"}],
        "f": "q\n",
        "g": "",
    }
    assert _plain(parse_yaml(raw)) == wanted


@pytest.mark.parametrize("raw", [b"", b"\n", b"# nothing\n", b"---\n", b"\xef\xbb\xbf"])
def test_a_file_that_says_nothing_is_an_empty_map(raw: bytes) -> None:
    assert _plain(parse_yaml(raw)) == {}


@pytest.mark.parametrize(
    ("raw", "what", "line", "column"),
    [
        (b"a: &x 1\nb: *x\n", "anchor or alias", 1, 4),
        (b"a: 1\nb: *x\n", "anchor or alias", 2, 4),
        (b"a: !!python/object:os.system 1\n", "a tag", 1, 4),
        (b"a: 1\n<<: {b: 2}\n", "a merge key", 2, 1),
        (b"a: 1\nb: 2\na: 3\n", "the same key twice", 3, 1),
        (b"a: |\n  text\n", "a block scalar", 1, 4),
        (b"a: 1\n---\nb: 2\n", "a second document", 2, 1),
        (b"? [a]\n: b\n", "a key that is not text", 1, 3),
        (b"a: [[[[[[[[[[1]]]]]]]]]]\n", "more than 8 levels", 1, 12),
        (b"a: 1\n b: 2\n", "is not YAML", 2, 3),
        (b"a: \xff\n", "not UTF-8", 1, 1),
        (b"a: 1\0\n", "characters that YAML does not allow", 1, 1),
        (b"x" * (MAX_YAML_BYTES + 1), "larger than", 1, 1),
    ],
)
def test_what_settings_do_not_have_is_refused_with_its_place(raw: bytes, what: str, line: int, column: int) -> None:
    with pytest.raises(YamlError, match=what) as caught:
        parse_yaml(raw)
    assert (caught.value.line, caught.value.column) == (line, column)


@given(st.binary(max_size=300))
def test_no_bytes_break_the_reader(raw: bytes) -> None:
    try:
        parse_yaml(raw)
    except YamlError as error:
        assert error.line >= 1  # noqa: PT017 - most bytes are no settings


_TEXTS = st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn"]), max_size=20)
_VALUES = st.recursive(
    _TEXTS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3), max_leaves=8
)


@given(st.dictionaries(_TEXTS.filter(lambda key: key != "<<"), _VALUES, min_size=1, max_size=4))
def test_what_json_writes_comes_back(value: dict[str, Any]) -> None:
    text = json.dumps(value, ensure_ascii=False)
    try:
        read = _plain(parse_yaml(text.encode()))
    except YamlError as error:
        assert "levels" in str(error) or "merge key" in str(error) or "no YAML" in str(error)  # noqa: PT017
    else:
        assert read == value


_NAMES = st.sampled_from(["name", "path", "stores", "team/x", "a", "b-c", "no", "1", "a.b"])
_SIMPLE = st.sampled_from(
    [
        "true", "a b", "~/x", "/srv/x y", "a@example.com", "team/*", '"q # [x]: y"', "'single: \"x\"'", "[a, b c]",
        "[ x ]", "[a,b]", "a # comment", "a#b", "12", "-", "- x", "*x", "@x", "a:", "a: b", "[]", "[a, 'b']", "{a: b}",
        "&a b", "!t x", ">", "|", "é", "...", "--- x", "~", "null", "a  b", '"', "'", '"a\\n"', "[[a]]", "x]", "[a",
        "?", "? x", "%x", "`x", "a,b", "a, b", "=", "<<", "x:y", "http://x", ":x", "", " ", "a\tb", "a \t# b",
    ]
)  # fmt: skip
_YAML_LINES = st.builds(
    lambda indent, dash, key, value: " " * indent + dash + (f"{key}: {value}" if key else value),
    st.sampled_from([0, 0, 0, 2, 2, 4, 1]),
    st.sampled_from(["", "", "- ", "-", "-  ", "- - "]),
    _NAMES | st.just(""),
    _SIMPLE,
)


@settings(max_examples=1500, deadline=None)
@given(
    st.lists(
        _YAML_LINES | st.sampled_from(["", "# c", "  # c", "---", "...", "stores:", "readers:", "<<: x"]), max_size=7
    )
)
@example(["a:", "- b", "- c: d", "  e: f"])
@example(["a:", "  - b: [x, y]", "    c:", "    - d"])
@example(["a: b", "  c"])
@example(["a: b", "", "  c: d"])
@example(["a:", "b: c"])
def test_what_is_read_without_the_library_is_what_the_library_reads(lines: list[str]) -> None:
    from memfs.disk import yaml as strictyaml

    text = "\n".join(lines) + "\n"
    quick = strictyaml._parse_simple(text)
    if quick is not None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(strictyaml, "_parse_simple", lambda text: None)
            assert parse_yaml(text.encode()) == quick


def test_the_settings_that_memfs_writes_need_no_library(places: Places) -> None:
    add_store(places, Store(name="personal", path=Path("/home/a b/.local/share"), write=True))
    add_store(places, Store(name="team", path=Path("/srv/team")))
    code = (
        "import sys; from pathlib import Path\n"
        "from memfs.disk import settings; from memfs.disk.places import Places\n"
        "assert len(settings.read_user_settings(Places(home=Path(sys.argv[1]))).stores) == 2\n"
        "assert settings.parse_repository_settings(sys.stdin.buffer.read()).scopes\n"
        "assert 'yaml' not in sys.modules\n"
    )
    subprocess.run(
        [sys.executable, "-c", code, str(places.home)],
        input=dict(iter_template())[".memfs/config.yaml"],
        cwd=Path(__file__).parents[2],
        check=True,
    )


# The repository's


def test_a_repository_without_settings_restricts_nothing(tree: WorkTree) -> None:
    settings = read_repository_settings(tree)
    assert settings == RepositorySettings()
    assert settings.allows("restricted/x")


def test_scopes_readers_and_limits_narrow(tree: WorkTree) -> None:
    (tree.root / ".memfs").mkdir()
    (tree.root / ".memfs/config.yaml").write_text(
        "version: 1\nname: Billing\nscopes: [team, team/*, restricted/audit]\n"
        "readers:\n  team/security: [alice@example.com]\n"
        "limits:\n  memory_bytes: 1000\n  results: 3\n  context_bytes: 2000\n"
    )
    settings = read_repository_settings(tree)
    assert settings.problems == ()
    assert settings.name == "Billing"
    assert [scope for scope in ("team", "team/x", "restricted/audit") if not settings.allows(scope)] == []
    assert [scope for scope in ("personal", "restricted/x") if settings.allows(scope)] == []
    assert settings.readers == {"team/security": ("alice@example.com",)}
    assert (settings.memory_bytes, settings.results, settings.context_bytes) == (1000, 3, 2000)


def test_no_limit_can_be_raised() -> None:
    raw = b"limits: {memory_bytes: 99999999999999999999, results: 100000, context_bytes: 1000000}\n"
    settings = parse_repository_settings(raw)
    assert settings.memory_bytes == READ_LIMIT
    assert settings.results == MAX_RESULTS
    assert settings.context_bytes == MAX_CONTEXT_BYTES


def test_what_only_a_user_may_decide_is_reported_and_has_no_effect() -> None:
    raw = b'stores: [x]\nmodel: evil\nsigning_key: /k\ncapture: true\nlimits:\n  endpoint: http://x\n"a\\u202eb": 1\n'
    settings = parse_repository_settings(raw)
    assert settings.sound
    assert [problem.rsplit(" ", 1)[1] for problem in settings.problems] == [
        "stores", "model", "signing_key", "capture", "a\\u{202E}b", "limits.endpoint",
    ]  # fmt: skip
    assert not {"stores", "model", "signing_key", "capture"} & set(RepositorySettings.__slots__)


@pytest.mark.parametrize(
    "raw",
    [
        b"readers: [", b"- a\n", b"version: 2\n", b"scopes: team\n", b"scopes: [everything]\n", b"scopes: ['*']\n",
        b"readers: {public: [a]}\n", b"readers: {team: a}\n", b"limits: {results: 0}\n", b"limits: {results: -1}\n",
        b"limits: {results: many}\n", b"name: ''\n", b"name: [x]\n", "limits: {results: ٣}\n".encode(),
    ],
)  # fmt: skip
def test_settings_that_cannot_be_read_open_nothing(raw: bytes) -> None:
    settings = parse_repository_settings(raw)
    assert not settings.sound
    assert len(settings.problems) == 1
    assert ".memfs/config.yaml: line " in settings.problems[0]


def test_settings_behind_a_symlink_a_fifo_or_too_large_are_not_read(tree: WorkTree, tmp_path: Path) -> None:
    file = tree.root / ".memfs/config.yaml"
    file.parent.mkdir()
    (tmp_path / "other.yaml").write_text("scopes: [team]\n")
    file.symlink_to(tmp_path / "other.yaml")
    assert read_repository_settings(tree).problems == (".memfs/config.yaml leads through a symlink",)
    file.unlink()
    os.mkfifo(file)
    assert read_repository_settings(tree).problems == (".memfs/config.yaml is not a regular file",)
    file.unlink()
    file.write_text("#" * (MAX_YAML_BYTES + 1))
    assert "larger than" in read_repository_settings(tree).problems[0]
    assert not read_repository_settings(tree).sound


# The user's


def test_a_user_without_settings_has_the_defaults(places: Places) -> None:
    assert read_user_settings(places) == UserSettings()


def test_a_user_lists_stores_identities_and_keys(places: Places) -> None:
    _user(
        places,
        "version: 1\nstores:\n  - name: billing\n    path: ~/clones/billing\n    write: true\n"
        "  - {name: mine, path: /srv/mine, recall: false, capture: true}\n"
        "identities: [alice@example.com, alice@example.org]\nsigning_key: ~/.ssh/id\nsigning_timeout: 5\n"
        "model: mini\nx: 1\n",
    )
    settings = read_user_settings(places)
    assert settings.stores == (
        Store(name="billing", path=places.home / "clones/billing", write=True),
        Store(name="mine", path=Path("/srv/mine"), recall=False, capture=True),
    )
    assert settings.identities == ("alice@example.com", "alice@example.org")
    assert (settings.signing_key, settings.signing_timeout, settings.model) == ("~/.ssh/id", 5.0, "mini")
    assert settings.problems == (f"{places.config / 'config.yaml'}:11: memfs does not know the setting x",)


def test_what_is_off_stays_off(places: Places) -> None:
    _user(places, "stores:\n  - {name: a, path: /a}\n")
    (store,) = read_user_settings(places).stores
    assert (store.recall, store.capture, store.write) == (True, False, False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stores:\n  - {name: a, path: a}\n", "starts with / or ~/"),
        ("stores:\n  - {name: a}\n", "needs a name and a path"),
        ("stores:\n  - {name: a, path: /a}\n  - {name: a, path: /b}\n", "same name"),
        ("stores:\n  - {name: a, path: /a, write: yes}\n", "write must be true or false"),
        ("stores: {a: b}\n", "stores must be a list"),
        ("identities: alice\n", "identities must be a list"),
        ("signing_timeout: soon\n", "whole number"),
        ("version: 3\n", "version must be 1"),
    ],
)
def test_malformed_settings_of_a_user_are_an_error_with_the_place(places: Places, text: str, message: str) -> None:
    file = _user(places, text)
    with pytest.raises(SetupError, match=message) as caught:
        read_user_settings(places)
    assert caught.value.where == str(file)
    assert "line " in str(caught.value)


def test_settings_that_others_may_write_are_refused(places: Places) -> None:
    file = _user(places, "version: 1\n")
    for path, mode in ((file, 0o620), (file, 0o602), (places.config, 0o720), (places.config, 0o702)):
        kept = path.stat().st_mode
        path.chmod(mode)
        with pytest.raises(SetupError, match="others may write your settings") as caught:
            read_user_settings(places)
        assert "chmod go-w" in str(caught.value.hint)
        path.chmod(kept)
    if os.geteuid() == 0:
        os.chown(file, 12345, 12345)
        with pytest.raises(SetupError, match="others may write"):
            read_user_settings(places)


def test_settings_in_a_git_work_tree_are_refused_also_behind_a_symlink(places: Places, tmp_path: Path) -> None:
    file = _user(places, "version: 1\n")
    read_user_settings(places)
    git(tmp_path, "init", "-q", "dotfiles")
    (tmp_path / "dotfiles/config.yaml").write_text("version: 1\n")
    file.unlink()
    file.symlink_to(tmp_path / "dotfiles/config.yaml")
    with pytest.raises(SetupError, match="lie in a git work tree"):
        read_user_settings(places)
    file.unlink()
    _user(places, "version: 1\n")
    git(places.home, "init", "-q")
    with pytest.raises(SetupError, match="lie in a git work tree"):
        read_user_settings(places)


def test_settings_that_are_no_file_are_refused_and_never_waited_for(places: Places) -> None:
    file = _user(places, "")
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(SetupError, match="not a regular file"):
        read_user_settings(places)


def test_the_home_of_the_environment_decides_nothing(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    _user(places, "stores:\n  - {name: a, path: ~/a}\n")
    monkeypatch.setenv("HOME", "/nowhere")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/nowhere")
    assert read_user_settings(places).stores[0].path == places.home / "a"


# Adding a store


@pytest.mark.parametrize(
    "before",
    [
        None,
        "# mine\nversion: 1\n",
        "identities: [a@example.com]",
        "stores:\n  - name: old\n    path: /old\n# after\nmodel: mini\n",
        "stores:\n- name: old\n  path: /old\nmodel: mini\n",
        "stores:\n  - {name: old, path: /old}\n\n\nmodel: mini",
    ],
)
def test_a_store_is_added_and_every_other_line_stays(places: Places, before: str | None) -> None:
    if before is not None:
        _user(places, before)
    store = Store(name='team "ü" 😀', path=Path("/srv/te am/mémoires"), write=True, capture=True, recall=False)
    assert add_store(places, store) is True
    after = (places.config / "config.yaml").read_text()
    for line in (before or "").splitlines():
        assert line in after.splitlines()
    settings = read_user_settings(places)
    assert settings.stores[-1] == store
    assert [known.name for known in settings.stores[:-1]] == (["old"] if "old" in (before or "") else [])
    assert settings.model == ("mini" if "mini" in (before or "") else None)
    assert (places.config / "config.yaml").stat().st_mode & 0o777 == 0o600
    assert add_store(places, store) is False
    assert (places.config / "config.yaml").read_text() == after
    with pytest.raises(SetupError, match="another store has this name"):
        add_store(places, Store(name=store.name, path=Path("/elsewhere")))


def test_settings_of_another_shape_are_left_to_the_person(places: Places) -> None:
    file = _user(places, "stores: [{name: old, path: /old}]\n")
    with pytest.raises(SetupError, match="by hand"):
        add_store(places, Store(name="new", path=Path("/new")))
    assert file.read_text() == "stores: [{name: old, path: /old}]\n"


# The schemas


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("version: 1\nscopes: [team, team/*]\nreaders: {team/x: [a@example.com]}\nlimits: {results: 3}\nx: y\n", True),
        ("scopes: [all]\n", False),
        ("readers: {all: [a]}\n", False),
        ("readers: {team: a}\n", False),
        ("limits: {results: 0}\n", False),
        ("limits: {results: x}\n", False),
        ("version: 2\n", False),
        ("name: ' '\n", False),
    ],
)
def test_the_schema_of_a_repository_s_settings_says_what_the_reader_says(text: str, fits: bool) -> None:
    assert parse_repository_settings(text.encode()).sound is fits
    assert (check_schema(_plain(parse_yaml(text.encode())), read_schema("config")) == []) is fits


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("stores:\n  - {name: a, path: ~/a, write: true}\nidentities: [a]\nsigning_timeout: 10\n", True),
        ("stores:\n  - {name: a, path: a}\n", False),
        ("stores:\n  - {name: a}\n", False),
        ("stores:\n  - {name: a, path: /a, write: on}\n", False),
        ("signing_timeout: 0\n", False),
        ("identities: [' ']\n", False),
    ],
)
def test_the_schema_of_a_user_s_settings_says_what_the_reader_says(places: Places, text: str, fits: bool) -> None:
    _user(places, text)
    assert (check_schema(_plain(parse_yaml(text.encode())), read_schema("user-config")) == []) is fits
    if fits:
        read_user_settings(places)
    else:
        with pytest.raises(SetupError):
            read_user_settings(places)


def test_only_named_scopes_are_shared_and_personal_ones_never() -> None:
    settings = parse_repository_settings(
        b"scopes: [personal, team, team/*]\nshare: [personal, team/*, restricted/hr]\n"
    )
    assert settings.problems == ()
    assert [scope for scope in ("team/billing", "team/web") if not settings.shares(scope)] == []
    assert [scope for scope in ("personal", "team", "restricted/hr") if settings.shares(scope)] == []
    assert not parse_repository_settings(b"name: x\n").shares("team")


def test_a_shared_index_is_a_store_with_an_address_and_pins(places: Places) -> None:
    places.config.mkdir(parents=True)
    (places.config / "config.yaml").write_text(
        "stores:\n  - name: team\n    path: /srv/team\n"
        "  - name: org\n    postgres: postgresql://reader@db.example/memories\n"
        "    pins: [memfs1:a]\n    milliseconds: 99\n"
    )
    settings = read_user_settings(places)
    assert [store.name for store in settings.stores] == ["team"]
    (shared,) = settings.shared
    assert (shared.name, shared.pins, shared.milliseconds) == ("org", ("memfs1:a",), 99)
    (places.config / "config.yaml").write_text("stores:\n  - name: org\n    postgres: x\n    path: /srv\n")
    assert "stores.path" in read_user_settings(places).problems[0]
