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
    "import sys; from pathlib import Path; from memfs.store.places import Places; from memfs.cli import main; "
    "sys.exit(main(sys.argv[2:], places=Places(home=Path(sys.argv[1]))))"
)


def launch_command(home: Path) -> list[str]:
    """Return the argv that starts memfs as a real process with ``home`` as its home."""
    return [sys.executable, "-I", "-c", LAUNCHER, str(home)]
