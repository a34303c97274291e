"""VS Code's Copilot: the server and the skill. Its hooks are a preview, and are left alone."""

from __future__ import annotations

from memfs.connect.agents import ARGS, SCRIPT, Agent

AGENT = Agent(
    name="vscode",
    title="VS Code (Copilot)",
    known="documentation of November 2026",
    events={},
    folder=".config/Code/User",
    project_folder=".vscode",
    servers=("mcp.json",),
    project_servers=("mcp.json",),
    servers_key="servers",
    server={"type": "stdio", "command": SCRIPT, "args": [ARGS, "--project", "${workspaceFolder}"]},
    notes=(
        ("always", "VS Code was not run against memfs: this follows its documentation of November 2026."),
        ("user", "VS Code keeps its settings in ~/.config/Code/User on Linux; elsewhere name them with --config-dir."),
    ),
)
