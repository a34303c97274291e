"""`memfs propose`: a branch beside the user's work, a push to a bare origin, and a forge's own tool."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from making import STATEMENT, commit, memory_text, put, write
from support import git

from memfs.disk.worktree import find_work_tree
from memfs.errors import InvalidMemoryError, SetupError, UsageError
from memfs.propose.propose import Wanted, describe, prepare
from memfs.propose.remote import parse_remote, show_remote
from memfs.review.forms import in_markdown

FAKE_TOOL = """#!/bin/sh
printf '%s\\n' "$@" > "$FORGE_LOG"
[ "$1" = pr ] && cat > "$FORGE_LOG.body"
env > "$FORGE_LOG.env"
echo "Creating pull request..." >&2
echo "https://{host}/acme/memories/{page}/7"
"""


@pytest.fixture
def origin(repo: Path, tmp_path: Path) -> Path:
    """Return a bare origin of ``repo``, which knows its main branch."""
    bare = tmp_path / "origin.git"
    git(tmp_path, "clone", "-q", "--bare", str(repo), str(bare))
    git(repo, "remote", "add", "origin", str(bare))
    git(repo, "fetch", "-q", "origin")
    git(repo, "remote", "set-head", "origin", "main")
    return bare


@pytest.fixture
def forge(repo: Path, origin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """Return a function that puts a fake `gh` or `glab` in front of PATH and names the remote accordingly."""

    def install(tool: str, host: str, script: str | None = None) -> Path:
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        page = "pull" if tool == "gh" else "-/merge_requests"
        (folder / tool).write_text(script or FAKE_TOOL.format(host=host, page=page))
        (folder / tool).chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        log = tmp_path / "forge.log"
        monkeypatch.setenv("FORGE_LOG", str(log))
        git(repo, "config", "remote.origin.url", f"https://robot:{'s3cr' + 'et'}@{host}/acme/memories.git")
        git(repo, "config", "remote.origin.pushurl", str(origin))
        return log

    return install


def _state(repo: Path) -> tuple[str, ...]:
    index = (repo / ".git" / "index").read_bytes().hex()
    return (
        git(repo, "status", "--porcelain"),
        git(repo, "rev-parse", "HEAD"),
        git(repo, "branch", "--show-current"),
        index,
    )


def test_a_memory_goes_to_a_branch_of_its_own_and_nothing_else_moves(repo: Path, origin: Path, memfs) -> None:  # type: ignore[no-untyped-def]
    put(repo, "deploys")
    write(repo, "staged.txt", "mine")
    git(repo, "add", "staged.txt")
    write(repo, "README.md", "changed by me")
    before = _state(repo)
    done = memfs("propose", "deploys", "--json", cwd=repo)
    assert done.code == 0, done.err
    assert _state(repo) == before
    assert done.json["branch"] == "memory/deploys"
    assert git(origin, "show", "memory/deploys:memories/team/deploys.md") == memory_text().rstrip("\n")
    assert git(origin, "diff", "--name-only", "main", "memory/deploys") == "memories/team/deploys.md"
    assert done.json["pushed"]


def test_without_ids_everything_that_is_new_goes_together(repo: Path, origin: Path, memfs) -> None:  # type: ignore[no-untyped-def]
    put(repo, "one", "The first thing is this.")
    put(repo, "two", "Another matter is that.")
    done = memfs("propose", "--json", cwd=repo)
    assert done.json["paths"] == ["memories/team/one.md", "memories/team/two.md"]
    assert memfs("propose", "--json", cwd=repo).code == 0


def test_what_only_the_base_changed_is_not_taken_back(repo: Path, origin: Path, tmp_path: Path, memfs) -> None:  # type: ignore[no-untyped-def]
    put(repo, "old")
    commit(repo, "remember")
    git(repo, "push", "-q", "origin", "main")
    git(tmp_path, "clone", "-q", str(origin), "other")
    other = tmp_path / "other"
    put(other, "old", STATEMENT.replace("Friday", "Monday"))
    commit(other, "newer")
    git(other, "push", "-q", "origin", "main")
    git(repo, "fetch", "-q", "origin")
    put(repo, "mine", "Something of my own to say.")
    assert memfs("propose", "--json", cwd=repo).json["paths"] == ["memories/team/mine.md"]
    put(repo, "old", STATEMENT.replace("Friday", "Tuesday"))
    done = memfs("propose", "old", cwd=repo)
    assert done.code == 2
    assert "has changed this memory too" in done.err


def test_a_forgotten_memory_is_proposed_only_when_it_is_named(repo: Path, origin: Path, memfs) -> None:  # type: ignore[no-untyped-def]
    path = put(repo, "old")
    commit(repo, "remember")
    git(repo, "push", "-q", "origin", "main")
    (repo / path).unlink()
    assert memfs("propose", cwd=repo).code == 2
    done = memfs("propose", "old", "--json", cwd=repo)
    assert done.json["paths"] == [path]
    assert git(origin, "ls-tree", "-r", "--name-only", "memory/old", "memories") == ""


def test_a_new_memory_goes_straight_to_a_branch(repo: Path, origin: Path, memfs) -> None:  # type: ignore[no-untyped-def]
    before = _state(repo)
    done = memfs(
        "propose", "--new", STATEMENT, "--kind", "decision", "--scope", "team", "--id", "deploys",
        "--evidence", "https://example.com/d/1", "--review", "on 2027-06-01", "--json", cwd=repo,
    )  # fmt: skip
    assert done.code == 0, done.err
    assert _state(repo) == before
    assert not (repo / "memories/team/deploys.md").exists()
    assert "origin: agent" in git(origin, "show", "memory/deploys:memories/team/deploys.md")


def test_a_second_proposal_of_the_same_memory_gets_another_name_or_updates(repo: Path, origin: Path, memfs) -> None:  # type: ignore[no-untyped-def]
    put(repo, "deploys")
    memfs("propose", "deploys", cwd=repo)
    put(repo, "deploys", STATEMENT.replace("Friday", "Monday"))
    assert memfs("propose", "deploys", "--json", cwd=repo).json["branch"] == "memory/deploys-2"
    done = memfs("propose", "deploys", "--update", "--json", cwd=repo)
    assert done.json["branch"] == "memory/deploys"
    assert "Monday" in git(origin, "show", "memory/deploys:memories/team/deploys.md")
    assert git(origin, "rev-list", "--count", "main..memory/deploys") == "2"
    assert memfs("propose", "deploys", "--update", "--branch", "nowhere", cwd=repo).code == 2


def test_the_same_words_are_proposed_once(repo: Path, origin: Path, memfs) -> None:  # type: ignore[no-untyped-def]
    put(repo, "deploys")
    first = memfs("propose", "deploys", "--json", cwd=repo).json
    again = memfs("propose", "deploys", "--json", cwd=repo).json
    assert (again["branch"], again["commit"]) == (first["branch"], first["commit"])
    assert "it is proposed already, exactly so, on memory/deploys" in again["notices"]


def test_a_dry_run_says_what_would_go_where_and_does_nothing(repo: Path, origin: Path, memfs) -> None:  # type: ignore[no-untyped-def]
    put(repo, "deploys")
    done = memfs("propose", "deploys", "-n", cwd=repo)
    assert done.code == 0
    assert "memory/deploys onto origin/main" in done.out
    assert "writes memories/team/deploys.md" in done.out
    assert git(repo, "branch", "--list", "memory/*") == ""


def test_a_remote_without_a_main_branch_is_said(repo: Path, tmp_path: Path, memfs) -> None:  # type: ignore[no-untyped-def]
    git(tmp_path, "init", "-q", "--bare", "empty.git")
    git(repo, "remote", "add", "origin", str(tmp_path / "empty.git"))
    put(repo, "deploys")
    done = memfs("propose", "deploys", cwd=repo)
    assert done.code == 2
    assert "knows no main branch of origin" in done.err
    assert "git push -u origin main" in done.err


@pytest.mark.parametrize("option", ["--message", "--branch"])
def test_a_credential_in_a_title_or_a_branch_is_refused(repo: Path, origin: Path, memfs, option: str) -> None:  # type: ignore[no-untyped-def]
    put(repo, "deploys")
    token = "gh" + "p_" + "k3Jd92LmQx7Tz0Vb5Nc8Rf1Hs6Wy4Pa2Ge9U"
    done = memfs("propose", "deploys", option, f"x-{token}" if option == "--branch" else f"use {token}", cwd=repo)
    assert done.code == 5
    assert token not in done.out + done.err
    assert token not in git(repo, "log", "--all", "--format=%B%D")


def test_agents_that_propose_at_once_do_not_lose_anything(repo: Path, origin: Path) -> None:
    ids = [*(f"memory-{number}" for number in range(6)), "shared", "shared"]
    before = git(repo, "status", "--porcelain")
    made: list[str] = []
    failed: list[BaseException] = []

    def work(place: int, memory_id: str) -> None:
        text = memory_text(f"Number {place} stands for itself in this repository.")
        try:
            new = {f"memories/team/{memory_id}.md": text.encode()}
            made.append(prepare(find_work_tree(repo), Wanted(new=new)).branch)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=pair) for pair in enumerate(ids)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert sorted(made) == [*(f"memory/memory-{n}" for n in range(6)), "memory/shared", "memory/shared-2"]
    texts = {git(repo, "show", f"{name}:memories/team/shared.md") for name in ("memory/shared", "memory/shared-2")}
    assert len(texts) == 2
    assert git(repo, "status", "--porcelain") == before


def test_it_works_on_a_detached_head_and_in_the_middle_of_a_merge(repo: Path, origin: Path, memfs) -> None:  # type: ignore[no-untyped-def]
    put(repo, "deploys")
    git(repo, "switch", "-q", "--detach")
    (repo / ".git" / "MERGE_HEAD").write_text(git(repo, "rev-parse", "HEAD") + "\n")
    assert memfs("propose", "deploys", cwd=repo).code == 0


def test_approvals_travel_with_their_memory(repo: Path, origin: Path, places, key: Path, memfs) -> None:  # type: ignore[no-untyped-def]
    from people import Person, found_team

    team = found_team(repo, places, [Person("alice", key)], approve_memory=False)
    team.git("push", "-q", "origin", "main")
    team.write("deploys", memory_text())
    team.approve(Person("alice", key), "deploys")
    paths = memfs("propose", "deploys", "--json", cwd=repo).json["paths"]
    assert [path.rsplit("/", 1)[0] for path in paths] == [".memfs/approvals", "memories/team"]


def test_a_memory_that_check_calls_wrong_is_not_pushed(repo: Path, origin: Path) -> None:
    put(repo, "x", "Pay\u202e only after review.")
    with pytest.raises(InvalidMemoryError, match=r"U\+202E"):
        prepare(find_work_tree(repo), Wanted(ids=("x",)))
    assert "memory/x" not in git(repo, "branch", "--list", "memory/*")


def test_a_branch_name_is_no_option_and_no_ref_of_another_kind(repo: Path, origin: Path) -> None:
    put(repo, "x")
    for name in ("-x", "a..b", "refs/../x", "x y", "@{1}"):
        with pytest.raises(UsageError, match="not the name of a branch"):
            prepare(find_work_tree(repo), Wanted(ids=("x",), branch=name))


# -- the forge ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("tool", "host"), [("gh", "github.com"), ("glab", "gitlab.example.org")])
def test_the_forges_own_tool_opens_the_pull_request(repo: Path, forge, memfs, tool: str, host: str) -> None:  # type: ignore[no-untyped-def]
    log = forge(tool, host)
    put(repo, "deploys", supersedes="[old-way]")
    done = memfs("propose", "deploys", "--json", cwd=repo)
    assert done.code == 0, done.err
    assert done.json["request"].startswith(f"https://{host}/acme/memories/")
    said = log.read_text()
    assert "memory/deploys" in said
    assert "main" in said.split("\n")
    body = Path(f"{log}.body").read_text() if tool == "gh" else said
    for question in ("Is it durable?", "What does it rest on?", "Who may see it?"):
        assert question in body
    assert "old-way" in body
    assert not any(line.startswith("GIT_DIR") for line in Path(f"{log}.env").read_text().split("\n"))


def test_a_push_to_a_fork_opens_the_request_upstream(repo: Path, origin: Path, forge, memfs) -> None:  # type: ignore[no-untyped-def]
    log = forge("gh", "github.com")
    git(repo, "remote", "add", "mine", "git@github.com:bob/memories.git")
    git(repo, "config", "remote.mine.pushurl", str(origin))
    put(repo, "deploys")
    done = memfs("propose", "deploys", "--remote", "mine", "--json", cwd=repo)
    assert done.code == 0, done.err
    said = log.read_text().split("\n")
    assert said[said.index("--repo") + 1] == "acme/memories"
    assert said[said.index("--head") + 1] == "bob:memory/deploys"
    assert "acme/memories/compare/main...bob%3Amemory%2Fdeploys" in done.json["address"]


def test_another_branch_of_the_remote_can_be_proposed_to(repo: Path, origin: Path, memfs) -> None:  # type: ignore[no-untyped-def]
    git(repo, "push", "-q", "origin", "main:release")
    put(repo, "deploys")
    done = memfs("propose", "deploys", "--base", "release", "--json", cwd=repo)
    assert done.json["base"] == "release"
    assert memfs("propose", "deploys", "--base", "nowhere", cwd=repo).code == 2


def test_without_a_tool_the_page_to_open_is_printed(repo: Path, forge, memfs) -> None:  # type: ignore[no-untyped-def]
    forge("other-tool", "github.com")
    put(repo, "deploys")
    done = memfs("propose", "deploys", cwd=repo)
    assert "open it here: https://github.com/acme/memories/compare/main...memory%2Fdeploys?expand=1" in done.out
    assert "s3cret" not in done.out + done.err


def test_a_pull_request_that_is_open_already_is_found(repo: Path, forge, memfs) -> None:  # type: ignore[no-untyped-def]
    address = "https://github.com/acme/memories/pull/3"
    script = f"#!/bin/sh\necho 'a pull request for branch x already exists:' >&2\necho {address} >&2\nexit 1\n"
    forge("gh", "github.com", script)
    put(repo, "deploys")
    assert memfs("propose", "deploys", "--json", cwd=repo).json["request"] == address


def test_a_tool_that_fails_costs_the_pull_request_only(repo: Path, origin: Path, forge, memfs) -> None:  # type: ignore[no-untyped-def]
    forge("gh", "github.com", "#!/bin/sh\necho 'not logged in at https://u:p4ss@github.com' >&2\nexit 4\n")
    put(repo, "deploys")
    done = memfs("propose", "deploys", cwd=repo)
    assert done.code == 0
    assert "gh could not open it: not logged in" in done.err
    assert "p4ss" not in done.err
    assert git(origin, "rev-parse", "memory/deploys")


def test_a_push_that_fails_keeps_the_branch_and_shows_no_credential(repo: Path, forge, memfs) -> None:  # type: ignore[no-untyped-def]
    forge("gh", "github.com")
    git(repo, "config", "remote.origin.pushurl", f"file://user:{'hun' + 'ter2'}@/nowhere/at/all.git")
    put(repo, "deploys")
    done = memfs("propose", "deploys", cwd=repo)
    assert done.code == 3
    assert "git could not push" in done.err
    assert "hunter2" not in done.err + done.out
    assert git(repo, "rev-parse", "memory/deploys")


def test_a_repository_without_a_remote_gets_its_branch(repo: Path, memfs) -> None:  # type: ignore[no-untyped-def]
    put(repo, "deploys")
    done = memfs("propose", "deploys", cwd=repo)
    assert done.code == 0
    assert "not pushed" in done.out


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://github.com/acme/memories.git", "github github.com acme/memories"),
        ("https://user:pw@github.com/acme/memories", "github github.com acme/memories"),
        ("git@github.com:acme/memories.git", "github github.com acme/memories"),
        ("ssh://git@gitlab.example.org:2222/group/sub/memories.git", "gitlab gitlab.example.org group/sub/memories"),
        ("https://gitlab.example.org:8443/group/memories.git", "gitlab gitlab.example.org:8443 group/memories"),
        ("https://git.example.org/acme/memories", "other git.example.org acme/memories"),
    ],
)
def test_addresses_of_forges_are_told_apart(url: str, shown: str) -> None:
    forge = parse_remote(url)
    assert forge is not None
    assert f"{forge.kind} {forge.host} {forge.project}" == shown


@pytest.mark.parametrize(
    "url",
    [
        "/srv/git/memories.git", "../memories", "C:/repos/memories", "file:///srv/x/y", "ext::sh -c id% acme/x",
        "https://github.com", "https://github.com/only", "javascript://github.com/a/b", "https://[::1/a/b",
        "https://evil.example\\@github.com/a/b", "https://github.com/a/b c", "https://github.com/a/b?c=d#/e",
        "git@-oProxyCommand=x:a/b",
    ],
)  # fmt: skip
def test_what_is_no_forge_is_none(url: str) -> None:
    forge = parse_remote(url)
    assert forge is None or (forge.host == "github.com" and "?" not in forge.project and " " not in forge.project)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://user:token@github.com/a/b.git", "https://github.com/a/b.git"),
        ("https://token@host/a?access_token=x#y", "https://host/a"),
        ("ssh://u:p@host:22/a/b", "ssh://host:22/a/b"),
        ("git@host:a/b", "host:a/b"),
        ("https://a:b@c:d@host/x", "https://host/x"),
        ("/srv/git", "/srv/git"),
    ],
)
def test_a_shown_address_has_no_credentials(url: str, shown: str) -> None:
    assert show_remote(url) == shown


def test_the_text_of_a_pull_request_gives_nothing_of_a_memory_a_meaning() -> None:
    from memfs.model.reader import read_memory

    body = "Ask @team about #12 ```\n</details><script>alert(1)</script>\nsee http://evil.example\u202e"
    memory = read_memory("memories/team/x.md", memory_text(body).encode()).memory
    if memory is not None:
        text = describe([memory], [])
        assert "````text" in text
        assert "\u202e" not in text
    assert in_markdown("@team closes #12 [x](http://evil) <b> a_b_c www.evil.example ok") == (
        "`@team` closes `#12` `[x](http://evil)` `<b>` `a_b_c` `www.evil.example` ok"
    )


def test_a_command_in_a_comment_is_one_code_span_that_nothing_around_it_can_end() -> None:
    command = '`memfs verify retries --review "on 2027-01-01"`'
    assert in_markdown(f"check (once): {command}, then @team") == f"check (once): {command}, then `@team`"
    assert in_markdown("see (`memfs trust --new`).") == "see (`memfs trust --new`)."
    assert in_markdown(f"odd ` tick` {command} ` <b>") == f"odd `` ` `` `` tick` `` {command} `` ` `` `<b>`"
    assert in_markdown("`a\u202eb c`") == "`a\\u{202E}b c`"


def test_a_missing_remote_is_a_setup_error(repo: Path) -> None:
    put(repo, "x")
    with pytest.raises(SetupError, match="no remote"):
        prepare(find_work_tree(repo), Wanted(ids=("x",), remote="nowhere"))
