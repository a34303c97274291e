"""How memfs was installed here, so that a hint names a command that works: uv tool, pipx or pip."""

from __future__ import annotations

import os
import sys

PACKAGE = "memfs-git"


def install_command(extra: str, prefix: str | None = None) -> str:
    """Return what a person types to add ``extra`` to this installation."""
    prefix = prefix or sys.prefix
    if os.path.exists(os.path.join(prefix, "uv-receipt.toml")):
        return f"uv tool install '{PACKAGE}[{_with_others(prefix, extra)}]'"
    if os.path.exists(os.path.join(prefix, "pipx_metadata.json")):
        return f"pipx install --force '{PACKAGE}[{extra}]'"
    return f"pip install '{PACKAGE}[{extra}]'"


def _with_others(prefix: str, extra: str) -> str:
    """Return ``extra`` with those that uv installed already: it replaces the environment."""
    import tomllib

    try:
        with open(os.path.join(prefix, "uv-receipt.toml"), "rb") as file:
            rows = tomllib.load(file)["tool"]["requirements"]
        known = [name for row in rows if row.get("name") == PACKAGE for name in row.get("extras", ())]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        known = []
    return ",".join(dict.fromkeys([*(name for name in known if isinstance(name, str) and name.isalnum()), extra]))
