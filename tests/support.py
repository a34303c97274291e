"""What tests share: real git, real keys, the command as a real process."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent
SHARED = CHECKOUT.parent / "shared"
TODAY = date(2026, 11, 30)


def git(where: Path, *arguments: str, **kwargs: Any) -> str:
    """Run git in ``where`` and return its output without the last line end."""
    done = subprocess.run(["git", *arguments], cwd=where, check=True, capture_output=True, text=True, **kwargs)
    return done.stdout.rstrip("\n")


def make_key(folder: Path, name: str, *, kind: str = "ed25519") -> Path:
    """Make a real key pair without a passphrase and return the private key's path."""
    path = folder / name
    subprocess.run(
        ["ssh-keygen", "-q", "-t", kind, "-N", "", "-C", f"{name}@example.com", "-f", str(path)],
        check=True,
        stdin=subprocess.DEVNULL,
    )
    return path


@dataclass(frozen=True, slots=True)
class Run:
    """What one run of the command gave."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        import json

        return json.loads(self.out)


LAUNCHER = (
    "import sys; from pathlib import Path; from memfs.disk import places; from memfs.cli import run_process; "
    "home = places.Places(home=Path(sys.argv[1])); places.find_places = lambda: home; "
    "sys.exit(run_process(sys.argv[2:], places=home))"
)


def launch_command(home: Path) -> list[str]:
    """Return the argv that starts memfs as a real process with ``home`` as its home."""
    return [sys.executable, "-I", "-c", LAUNCHER, str(home)]


def run_at_terminal(
    argv: list[str], answers: list[tuple[str, str]], *, cwd: Path, env: dict[str, str], timeout: float = 30
) -> Run:
    """Run ``argv`` on a terminal of its own and give each answer when its prompt has appeared.

    ``answers`` are (part of the prompt, what is typed), used in order. Output and error output are
    one stream, as a person sees them.
    """
    import os
    import pty
    import select
    import time

    ours, theirs = pty.openpty()
    child = subprocess.Popen(argv, cwd=cwd, env=env, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    seen, waiting, since = "", list(answers), 0
    deadline = time.monotonic() + timeout
    try:
        while time.monotonic() < deadline:
            ready, _, _ = select.select([ours], [], [], 0.1)
            if ready:
                try:
                    piece = os.read(ours, 65536)
                except OSError:  # the child closed its end: Linux says EIO
                    break
                if not piece:
                    break
                seen += piece.decode("utf-8", "replace")
            elif child.poll() is not None:
                break
            if waiting and waiting[0][0] in seen[since:]:
                since = len(seen)
                os.write(ours, (waiting.pop(0)[1] + "\n").encode())
        else:
            raise AssertionError(f"no end after {timeout} s; the terminal shows:\n{seen}")
    finally:
        if child.poll() is None:
            try:
                child.wait(2)
            except subprocess.TimeoutExpired:
                child.kill()
        os.close(ours)
    assert not waiting, f"never asked: {waiting}; the terminal shows:\n{seen}"
    return Run(child.wait(), seen.replace("\r\n", "\n"), "")
