"""What a person may type for evidence, and what it becomes."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from support import Run, git

from memfs.disk.worktree import find_work_tree
from memfs.errors import InvalidMemoryError
from memfs.git.stored import clean_blob
from memfs.standing.tie import Knot


@pytest.fixture
def shop(repo: Path) -> Path:
    """Return a repository with files to rest on, a branch and a tag."""
    for path, text in {
        "docs/guide.md": "# Guide\n\n## Deploy windows\n\nTuesdays.\n",
        "src/retry.py": "import time\n\n\ndef charge():\n    for attempt in range(3):\n        pass\n",
        "packages/@acme/ui/README.md": "A library.\n",
        "odd#name.txt": "x\n",
    }.items():
        (repo / path).parent.mkdir(parents=True, exist_ok=True)
        (repo / path).write_text(text)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "files")
    git(repo, "tag", "v1.2.0")
    git(repo, "remote", "add", "origin", "https://somebody:word@forge.example/acme/shop.git")
    return repo


def tie(root: Path, text: str, folder: str = "", scope: str = "team") -> str:
    return Knot(find_work_tree(root), folder=folder, scope=scope).tie(text).text


def blob(root: Path, path: str) -> str:
    return git(root, "rev-parse", f"HEAD:{path}")[:32]


@pytest.mark.parametrize("typed", ["docs/guide.md", "./docs/guide.md", "docs//guide.md", "docs/../docs/guide.md"])
def test_a_path_is_tied_to_its_content(shop: Path, typed: str) -> None:
    assert tie(shop, typed) == f"docs/guide.md@blob:{blob(shop, 'docs/guide.md')}"


def test_a_path_may_be_absolute_or_from_the_folder_where_its_author_is(shop: Path) -> None:
    wanted = f"src/retry.py@blob:{blob(shop, 'src/retry.py')}"
    assert tie(shop, str(shop / "src/retry.py")) == wanted
    assert tie(shop, "retry.py", folder="src") == wanted
    assert tie(shop, "../src/retry.py", folder="docs") == wanted
    assert tie(shop, "src/retry.py", folder="docs") == wanted


def test_a_folder_of_a_scoped_package_is_a_path(shop: Path) -> None:
    path = "packages/@acme/ui/README.md"
    assert tie(shop, path) == f"{path}@blob:{blob(shop, path)}"
    assert tie(shop, f"{path}@main") == f"{path}@blob:{blob(shop, path)}"


@pytest.mark.parametrize("revision", ["main", "HEAD", "v1.2.0", "HEAD~0"])
def test_a_path_at_a_revision_is_the_content_there(shop: Path, revision: str) -> None:
    before = blob(shop, "docs/guide.md")
    (shop / "docs/guide.md").write_text("Other.\n")
    assert tie(shop, f"docs/guide.md@{revision}") == f"docs/guide.md@blob:{before}"
    commit = git(shop, "rev-parse", "HEAD")
    assert tie(shop, f"docs/guide.md@{commit[:9]}") == f"docs/guide.md@blob:{before}"


@pytest.mark.parametrize("typed", ["docs/guide.md#Deploy windows", "docs/guide.md#deploy-windows"])
def test_a_section_is_tied_to_its_text(shop: Path, typed: str) -> None:
    digest = sha256(b"##DeploywindowsTuesdays.").hexdigest()[:32]
    assert tie(shop, typed) == f"docs/guide.md#Deploy windows@text:{digest}"
    assert tie(shop, f"{typed}@main") == f"docs/guide.md#Deploy windows@text:{digest}"


def test_lines_are_tied_to_their_text(shop: Path) -> None:
    digest = sha256(b"defcharge():forattemptinrange(3):").hexdigest()[:32]
    assert tie(shop, "src/retry.py#L4-L5") == f"src/retry.py#L4-L5@text:{digest}"
    assert tie(shop, "retry.py#L4-L5", folder="src") == f"src/retry.py#L4-L5@text:{digest}"


@pytest.mark.parametrize("typed", ["HEAD", "main", "v1.2.0"])
def test_a_revision_alone_is_a_commit(shop: Path, typed: str) -> None:
    assert tie(shop, typed) == git(shop, "rev-parse", "--short=12", "HEAD")


@pytest.mark.parametrize(
    ("url", "typed", "address"),
    [
        ("https://somebody:word@forge.example/acme/shop.git", "#812", "https://forge.example/acme/shop/issues/812"),
        ("git@forge.example:acme/shop.git", "#812", "https://forge.example/acme/shop/issues/812"),
        ("ssh://git@gitlab.example:2222/acme/shop", "!7", "https://gitlab.example/acme/shop/-/merge_requests/7"),
    ],
)
def test_a_number_is_the_address_of_an_issue_of_the_remote(shop: Path, url: str, typed: str, address: str) -> None:
    git(shop, "remote", "set-url", "origin", url)
    assert tie(shop, typed) == address


@pytest.mark.parametrize("text", ["https://example.com/x", "said by Ana on 2027-02-11", "billing:src/a.py@bf3c8fd"])
def test_what_is_no_file_of_this_repository_stays_as_it_is(shop: Path, text: str) -> None:
    assert tie(shop, text) == text


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("docs/nope.md", "this repository does not contain that file"),
        ("docs/nope.md@main", "this repository does not contain that file"),
        ("packages/@acme/nope.md", "this repository does not contain that file"),
        ("docs/guide.md@nowhere", "nowhere is not a commit, branch or tag here"),
        ("docs/guide.md#Nothing", "does not contain that heading"),
        ("src/retry.py#L400", "this file has 7 lines"),
        ("src/retry.py#L2-L3", "only blanks and comments"),
        ("odd#name.txt#L1", "whole file"),
        ("../outside.md", "this repository does not contain that file"),
        ("deadbeef", "does not contain that commit"),
        ("docs/guide.md@blob:" + "0" * 16, "nothing here has this content"),
        ("docs/guide.md#Deploy windows@text:" + "0" * 16, "nothing here has this text"),
        ("We looked at the logs " + "and looked again " * 30, "must be a PATH"),
        ("a/" * 3_000, "at most 4096 characters"),
        ("x" * 300, "must be a PATH"),
        ("docs/\x00.md", "evidence"),
    ],
)
def test_what_is_not_here_is_refused_and_named(shop: Path, typed: str, said: str) -> None:
    with pytest.raises(InvalidMemoryError) as refused:
        tie(shop, typed)
    assert said in str(refused.value)


def test_a_name_that_contains_a_mark_of_a_part_is_a_file_first(shop: Path) -> None:
    assert tie(shop, "odd#name.txt") == f"odd#name.txt@blob:{blob(shop, 'odd#name.txt')}"


def test_a_file_of_a_submodule_is_told_from_one_that_is_missing(shop: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "other")
    (tmp_path / "other/x.c").write_text("x\n")
    git(tmp_path / "other", "add", "-A")
    git(tmp_path / "other", "commit", "-qm", "x")
    git(shop, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(tmp_path / "other"), "vendor/lib")
    with pytest.raises(InvalidMemoryError, match="submodule"):
        tie(shop, "vendor/lib/x.c")


def test_a_memory_that_some_readers_may_not_see_is_not_evidence(shop: Path) -> None:
    (shop / "memories/restricted/hr").mkdir(parents=True)
    (shop / "memories/restricted/hr/bands.md").write_text("x\n")
    with pytest.raises(InvalidMemoryError, match="not every reader"):
        tie(shop, "memories/restricted/hr/bands.md")
    assert tie(shop, "memories/restricted/hr/bands.md", scope="restricted/hr").startswith("memories/restricted/hr/")
    blind = Knot(find_work_tree(shop), scope="restricted/hr", sees_path=lambda path: not path.startswith("memories/"))
    with pytest.raises(InvalidMemoryError, match="does not contain that file"):
        blind.tie("memories/restricted/hr/bands.md")


@pytest.mark.parametrize(
    ("attributes", "config", "raw"),
    [
        ("", {}, b"a\r\nb\r\n"),
        ("* text=auto", {}, b"a\r\nb\r\n"),
        ("* text=auto", {}, b"a\r\nb\0\r\n"),
        ("* text=auto", {}, b"a\rb\r\n"),
        ("*.txt text", {}, b"a\r\nb\0\r\n"),
        ("*.txt -text", {"core.autocrlf": "true"}, b"a\r\nb\r\n"),
        ("*.txt eol=crlf", {}, b"a\r\nb\r\n"),
        ("*.txt crlf", {}, b"a\r\nb\r\n"),
        ("", {"core.autocrlf": "input"}, b"a\r\nb\r\n"),
        ("", {"core.autocrlf": "true"}, b"a\r\n" + bytes(range(1, 9)) * 50 + b"\r\n"),
    ],
)
def test_content_is_named_as_git_would_store_it(
    repo: Path, attributes: str, config: dict[str, str], raw: bytes
) -> None:
    for name, value in config.items():
        git(repo, "config", name, value)
    (repo / ".gitattributes").write_text(attributes + "\n")
    (repo / "x.txt").write_bytes(raw)
    named = clean_blob(find_work_tree(repo), "x.txt", raw)
    git(repo, "add", "-A")
    assert named == git(repo, "rev-parse", ":x.txt")
    (repo / "x.txt").write_bytes(raw + b"c\r\n")
    again = clean_blob(find_work_tree(repo), "x.txt", raw + b"c\r\n")
    git(repo, "add", "-A")
    assert again == git(repo, "rev-parse", ":x.txt")


def test_a_file_that_a_filter_changes_is_evidence_once_it_is_committed(repo: Path) -> None:
    git(repo, "config", "filter.crypt.clean", "sed s/^/ENC/")
    git(repo, "config", "filter.crypt.smudge", "sed s/^ENC//")
    (repo / ".gitattributes").write_text("*.key filter=crypt\n")
    (repo / "x.key").write_text("plain\n")
    with pytest.raises(InvalidMemoryError, match="only its committed content"):
        tie(repo, "x.key")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "x")
    import time

    time.sleep(0.05)
    git(repo, "update-index", "--refresh", "-q")
    (repo / ".git/index").touch()
    assert tie(repo, "x.key") == f"x.key@blob:{blob(repo, 'x.key')}"


def remember(memfs: Callable[..., Run], cwd: Path, *args: str) -> Run:
    return memfs(
        "remember", "Charges are retried three times.", "--id", "retries", "--kind", "decision", "--scope", "team",
        "--origin", "owner", *args, cwd=cwd,
    )  # fmt: skip


def test_remember_says_what_evidence_became_and_takes_what_is_not_committed(
    shop: Path, memfs: Callable[..., Run]
) -> None:
    (shop / "src/new.py").write_text("MAX = 3\n")
    run = remember(memfs, shop / "src", "--evidence", "new.py", "--review", "when new.py changes")
    assert run.code == 0, run.err
    assert "evidence new.py was tied to its content: src/new.py@blob:" in run.err
    assert "src/new.py is not committed as it is now" in run.err
    text = (shop / "memories/team/retries.md").read_text()
    assert "review_trigger: when src/new.py changes\n" in text
    assert memfs("list", cwd=shop).out.count("current") == 1
    git(shop, "add", "-A")
    git(shop, "commit", "-qm", "new")
    assert git(shop, "rev-parse", "HEAD:src/new.py")[:32] in text
    assert memfs("list", cwd=shop).out.count("current") == 1


def test_an_edit_ties_new_evidence_and_leaves_the_old_as_it_is(shop: Path, memfs: Callable[..., Run]) -> None:
    commit = git(shop, "rev-parse", "--short=12", "HEAD")
    assert remember(memfs, shop, "--evidence", "docs/guide.md", "--review", "on 2030-01-01").code == 0
    path = shop / "memories/team/retries.md"
    old = f"docs/guide.md@{commit}"
    path.write_text(path.read_text().replace(f"docs/guide.md@blob:{blob(shop, 'docs/guide.md')}", old))
    git(shop, "commit", "-qam", "as it was written before")
    run = memfs("edit", "retries", "--evidence", old, "--evidence", "src/retry.py#L4-L5", cwd=shop)
    assert run.code == 0, run.err
    text = path.read_text()
    assert f"  - {old}\n" in text
    assert '  - "src/retry.py#L4-L5@text:' in text


def test_a_trigger_on_a_version_that_nothing_names_is_said_when_it_is_written(
    shop: Path, memfs: Callable[..., Run]
) -> None:
    run = remember(memfs, shop, "--evidence", "docs/guide.md", "--review", "when left-pad >= 2")
    assert "no manifest here names left-pad" in run.err
    (shop / "packages/web").mkdir()
    (shop / "packages/web/package.json").write_text('{"dependencies": {"left-pad": "^2.1.0"}}')
    assert "recheck" in memfs("list", cwd=shop).out
