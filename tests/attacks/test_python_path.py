"""PYTHONPATH leads into a repository, as a project's settings can have it: nothing of it is imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from people import Team

SCRIPT = """#!{python}
import sys
from pathlib import Path
from memfs.disk import places
places.find_places = lambda: places.Places(home=Path({home!r}))
from memfs.cli import entry_point
if __name__ == '__main__':
    sys.exit(entry_point())
"""


@pytest.mark.parametrize("path", [".", "{root}", "{root}/../project:/nowhere", ":{root}/lib"])
def test_an_installed_script_imports_nothing_that_pythonpath_names(team: Team, tmp_path: Path, path: str) -> None:
    script = tmp_path / "bin" / "memfs"
    script.parent.mkdir()
    script.write_text(SCRIPT.format(python=sys.executable, home=str(team.places.home)))
    script.chmod(0o755)
    (team.root / "lib").mkdir()
    for folder in (team.root, team.root / "lib"):
        for name in ("yaml", "cryptography", "git", "onnxruntime"):
            (folder / f"{name}.py").write_text(f"open({str(tmp_path / 'mark')!r}, 'a').write(__file__)\n")
    environ = {**os.environ, "PYTHONPATH": path.format(root=team.root)}
    for arguments in (["show", "a"], ["check"], ["edit", "a", "--tag", "billing"]):
        done = subprocess.run([script, *arguments], cwd=team.root, env=environ, capture_output=True, text=True)
        assert "Traceback" not in done.stderr, done.stderr
        assert not (tmp_path / "mark").exists(), arguments
    assert "billing" in team.path("a").read_text()


def test_folders_of_the_installation_stay_when_pythonpath_names_them_too(tmp_path: Path) -> None:
    code = "from memfs.cli import leave_python_path as leave; leave(); import memfs, yaml, json, _json; print('fine')"
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environ, capture_output=True, text=True)
    assert done.stdout == "fine\n", done.stderr
