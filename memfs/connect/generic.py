"""For agents that memfs has no row for: the skill in the folders that most of them read, and a snippet to paste."""

from __future__ import annotations

import json
from pathlib import Path

from memfs.connect import texts
from memfs.connect.install import Change, write_targets
from memfs.connect.targets import OwnTarget
from memfs.connect.wish import SHARED_SKILLS, server_entry
from memfs.disk.places import Places

SKILL_FOLDERS = (SHARED_SKILLS, ".claude/skills")
"""The two folders that teach nearly every agent; Claude Code reads the second alone."""


def skill_files() -> list[tuple[str, str]]:
    """Return (path below a project or the home, text) of the skill."""
    return [(f"{folder}/{texts.NAME}/SKILL.md", texts.skill_text()) for folder in SKILL_FOLDERS]


def install_skills(base: Path, places: Places, *, project: bool, dry_run: bool = False) -> list[Change]:
    """Write the skill below ``base`` and return what became of each file."""
    targets = [OwnTarget(path=base / path, content=text, mark=texts.MARK) for path, text in skill_files()]
    return write_targets(targets, places, within=base if project else None, dry_run=dry_run)


def snippet(script: str, *, write: bool = False) -> str:
    """Return what to paste into the settings of an agent that takes MCP servers."""
    server = server_entry({"command": "{script}", "args": "{args}"}, script, write=write)
    text = json.dumps({"mcpServers": {texts.NAME: server}}, indent=2, ensure_ascii=False)
    return (
        'For the agent\'s MCP settings (where it starts servers elsewhere, add "--project" and its own variable for '
        f"the project's folder to the arguments):\n{text}"
    )
