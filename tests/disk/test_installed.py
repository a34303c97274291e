"""A hint names the installer that this memfs came with."""

from __future__ import annotations

from pathlib import Path

from memfs.disk.installed import install_command


def test_the_hint_names_the_installer_in_use(tmp_path: Path) -> None:
    assert install_command("browse", str(tmp_path)) == "pip install 'memfs-git[browse]'"
    (tmp_path / "pipx_metadata.json").write_text("{}")
    assert install_command("browse", str(tmp_path)).startswith("pipx install --force ")
    receipt = tmp_path / "uv-receipt.toml"
    receipt.write_text('[tool]\nrequirements = [{ name = "memfs-git", extras = ["mcp", "semantic"] }]\n')
    assert install_command("browse", str(tmp_path)) == "uv tool install 'memfs-git[mcp,semantic,browse]'"
    for broken in ("", "[tool", "[tool]\nrequirements = 3\n", '[tool]\nrequirements = [{ extras = "x" }]\n'):
        receipt.write_text(broken)
        assert install_command("browse", str(tmp_path)) == "uv tool install 'memfs-git[browse]'"
