"""Kiro: the server, the skill and a steering file. Its hooks belong to one agent's file and are left alone."""

from __future__ import annotations

from memfs.connect.agents import ARGS, SCRIPT, Agent

AGENT = Agent(
    name="kiro",
    title="Kiro",
    known="documentation of October 2026",
    events={},
    folder=".kiro",
    project_folder=".kiro",
    servers=("settings/mcp.json",),
    project_servers=("settings/mcp.json",),
    server={"command": SCRIPT, "args": ARGS},
    rule="steering/memfs.md",
    rule_front="inclusion: always\n",
    skills=".kiro/skills",
    project_skills=".kiro/skills",
    notes=(("always", "Kiro was not run against memfs: this follows its documentation of October 2026."),),
)
