"""A sealed world for every test: own home, own git configuration, loopback only, real git and keys."""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from people import Person, Team, found_team
from support import CHECKOUT, SHARED, Run, git, launch_command, make_key

from memfs.disk.places import Places
from memfs.disk.worktree import WorkTree, find_work_tree

# The same inputs on every run: a red run is the change's own fault. `--hypothesis-profile explore` looks further.
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, print_blob=True)
settings.load_profile("same")

_REAL_HOME = pwd.getpwuid(os.getuid()).pw_dir
_PRIVATE = tuple(
    os.path.join(_REAL_HOME, name)
    for name in (
        ".ssh", ".gnupg", ".gitconfig", ".config/git", ".config/memfs", ".cache/memfs", ".local/state/memfs",
        ".local/share/memfs", ".claude", ".claude.json", ".codex", ".gemini", ".copilot", ".cursor", ".codeium",
        ".config/opencode",
    )
)  # fmt: skip
_LOOPBACK = ("127.", "::1", "localhost")


def _refuse_the_outside(event: str, arguments: tuple[Any, ...]) -> None:
    """Audit hook of the test process: the user's private files and the network are out of bounds."""
    if event == "open" and isinstance(arguments[0], str) and arguments[0].startswith(_PRIVATE):
        raise PermissionError("a test reached for the user's own files")
    if event == "socket.connect":
        address = arguments[1]
        if isinstance(address, tuple) and not str(address[0]).startswith(_LOOPBACK):
            raise PermissionError("a test reached for the network")


sys.addaudithook(_refuse_the_outside)

_KEPT = ("PATH", "TMPDIR", "SYSTEMROOT", "MEMFS_TEST_CLIENTS", "MEMFS_TEST_WHEEL", "CI", "COVERAGE_PROCESS_START")


@pytest.fixture(autouse=True)
def sealed(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the home folder of this test; nothing of the user's environment reaches it."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name not in _KEPT and not name.startswith("PYTEST_"):
            monkeypatch.delenv(name)
    for name, value in {
        "HOME": str(home),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "NO_COLOR": "1",
        "COLUMNS": "100",
    }.items():
        monkeypatch.setenv(name, value)
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Alice Example\n\temail = alice@example.com\n[init]\n\tdefaultBranch = main\n"
        "[commit]\n\tgpgsign = false\n[gc]\n\tauto = 0\n"
    )

    # The password database names the real home: whoever asks for it gets the sealed one.
    monkeypatch.setattr("memfs.disk.places.find_places", lambda: Places(home=home))
    return home


@pytest.fixture(scope="session", autouse=True)
def one_memfs_is_tested() -> None:
    """Refuse to test two packages at once: this process's memfs, and another one that its children import.

    With MEMFS_TEST_WHEEL=1 the installed package is tested, not the checkout.
    """
    import memfs

    ours = Path(memfs.__file__).resolve()
    asked = "import memfs, sys; sys.stdout.write(memfs.__file__)"
    theirs = subprocess.run([sys.executable, "-I", "-c", asked], capture_output=True, text=True).stdout
    assert theirs, "memfs is not installed here, so its children cannot be tested: pip install -e ."
    assert ours == Path(theirs).resolve(), f"two packages: {ours} here, {theirs} in children; unset PYTHONPATH"
    if os.environ.get("MEMFS_TEST_WHEEL") == "1":
        assert CHECKOUT not in ours.parents, "the checkout shadows the wheel"


@pytest.fixture(scope="session", autouse=True)
def interrupts_are_not_ignored() -> None:
    """A background job of a shell inherits SIGINT as ignored, and so would the programs that tests interrupt."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def places(sealed: Path) -> Places:
    """Return the user's places inside the sealed home."""
    return Places(home=sealed)


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of handed cases, or skip where a clone has none."""
    if not (SHARED / "cases").is_dir():
        pytest.skip("the shared cases are not beside this checkout")
    return SHARED


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a real git repository with an empty memories folder and one commit."""
    root = tmp_path / "project"
    root.mkdir()
    git(root, "init", "-q")
    (root / "README.md").write_text("# A project\n")
    (root / ".gitattributes").write_text("memories/** text eol=lf\n.memfs/** -text\n")
    (root / "memories").mkdir()
    git(root, "add", "-A")
    git(root, "commit", "-qm", "begin")
    return root


@pytest.fixture(scope="session")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a private Ed25519 key, made once a session."""
    return make_key(tmp_path_factory.mktemp("keys"), "alice")


@pytest.fixture(scope="session")
def other_key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a second person's private key."""
    return make_key(tmp_path_factory.mktemp("keys"), "bob")


@pytest.fixture
def memfs(places: Places, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Run]:
    """Return a function that runs the command line in this process: ``memfs("show", "x", cwd=repo)``."""
    from memfs.cli import main

    def run(
        *arguments: str,
        cwd: Path | None = None,
        home: Path | None = None,
        stdin: bytes = b"",
        env: dict[str, str] | None = None,
    ) -> Run:
        import io

        for name, value in (env or {}).items():
            monkeypatch.setenv(name, value)
        capsys.readouterr()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        at = ["-C", str(cwd)] if cwd is not None else []
        code = main([*at, *arguments], places=Places(home=home) if home else places)
        captured = capsys.readouterr()
        return Run(code, captured.out, captured.err)

    return run


@pytest.fixture
def memfs_process(sealed: Path) -> Callable[..., Run]:
    """Return a function that runs the command line in a process of its own."""

    def run(
        *arguments: str, cwd: Path | None = None, home: Path | None = None, stdin: bytes = b"", timeout: float = 60,
        env: dict[str, str] | None = None,
    ) -> Run:  # fmt: skip
        done = subprocess.run(
            [*launch_command(home or sealed), *arguments],
            cwd=cwd, input=stdin, capture_output=True, timeout=timeout, env={**os.environ, **(env or {})},
        )  # fmt: skip
        return Run(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


@pytest.fixture
def processes() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Return a list of child processes that are ended with the test."""
    children: list[subprocess.Popen[bytes]] = []
    yield children
    for child in children:
        if child.poll() is None:
            child.kill()
        child.wait()


@pytest.fixture(scope="session")
def alice(key: Path) -> Person:
    return Person("alice", key)


@pytest.fixture(scope="session")
def bob(other_key: Path) -> Person:
    return Person("bob", other_key)


@pytest.fixture(scope="session")
def carol(tmp_path_factory: pytest.TempPathFactory) -> Person:
    return Person("carol", make_key(tmp_path_factory.mktemp("keys"), "carol"))


@pytest.fixture(scope="session")
def mallory(tmp_path_factory: pytest.TempPathFactory) -> Person:
    """Return somebody whom no keyring lists."""
    return Person("mallory", make_key(tmp_path_factory.mktemp("keys"), "mallory"))


@pytest.fixture
def team(repo: Path, places: Places, alice: Person, bob: Person) -> Team:
    """Return a repository where alice is root and approves, bob approves, and a.md is approved."""
    return found_team(repo, places, [alice, bob])


@pytest.fixture
def make_case(shared: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that makes a handed case in a new folder and returns the folder."""

    def make(name: str) -> Path:
        (script,) = (shared / "cases").glob(f"{name}-*/make.sh")
        folder = tmp_path / f"case{name}"
        subprocess.run(["bash", str(script), str(folder)], check=True, capture_output=True, stdin=subprocess.DEVNULL)
        return folder

    return make


@pytest.fixture
def tree(repo: Path) -> WorkTree:
    """Return the work tree of ``repo``."""
    return find_work_tree(repo)
