"""An agent's own program as a reader: without tools, hooks, servers or instructions of anybody (INTEGRATIONS 6).

One row for each agent. A cage is used only after ``memfs doctor cage`` has proved it for the very program that is
installed; after an update it is proved again. It runs in an empty folder of its own, and with a variable in its
environment that memfs's hooks and ``memfs capture`` take as a sign to do nothing.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from memfs.capture.asking import Ask
from memfs.disk.places import Places
from memfs.disk.private import make_folder, read_own, replace_own
from memfs.errors import MemfsError, SetupError
from memfs.git.process import Completed, require_program
from memfs.git.process import run as run_program
from memfs.model.values import dataclass, field

MARK = "MEMFS_CAPTURE"
"""The variable that is set inside a cage."""

SECONDS = 300
_LONGEST = 4 * 1024 * 1024

_CODEX_OFF = (
    "shell_tool", "unified_exec", "apps", "goals", "multi_agent", "image_generation", "plugins", "hooks",
    "browser_use", "computer_use", "skill_search", "tool_suggest", "view_image", "in_app_browser", "memories",
)  # fmt: skip


_OPENCODE = "opencode/opencode.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cage:
    """How one agent is caged. ``{folder}`` in words, variables and names of files is the cage's empty folder."""

    agent: str
    program: str
    words: tuple[str, ...]  # the question comes on standard input
    variables: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, Any] = field(default_factory=dict)  # below the folder: name → JSON
    copied: tuple[str, tuple[str, ...], str] | None = None  # (settings below the home, their keys that stay, file)
    asks_by_argument: str = ""  # the option before the question, for a program that does not read standard input


CAGES: Mapping[str, Cage] = {
    cage.agent: cage
    for cage in (
        Cage(
            agent="claude-code",
            program="claude",
            words=(
                "-p", "--tools", "", "--strict-mcp-config", "--setting-sources", "", "--safe-mode",
                "--disable-slash-commands", "--no-session-persistence", "--system-prompt", "You answer with JSON.",
            ),
        ),
        Cage(
            agent="codex",
            program="codex",
            words=(
                "exec", "--ignore-user-config", "--ignore-rules", "--ephemeral", "--skip-git-repo-check", "-s",
                "read-only", "-c", 'web_search="disabled"', "-c", "project_doc_max_bytes=0", "-c",
                "tools.experimental_request_user_input={enabled=false}",
                *(word for name in _CODEX_OFF for word in ("--disable", name)), "-o", "{folder}/answer", "-",
            ),
        ),
        Cage(
            agent="gemini",
            program="gemini",
            words=("--allowed-mcp-server-names", "none", "-e", "none", "-p", "Answer with JSON."),
            variables={"GEMINI_CLI_HOME": "{folder}/home", "GEMINI_CLI_TRUST_WORKSPACE": "true"},
            files={
                "home/.gemini/settings.json": {
                    "tools": {"core": ["none"]},
                    "hooksConfig": {"enabled": False},
                    "security": {"auth": {"selectedType": "gemini-api-key"}},
                    "privacy": {"usageStatisticsEnabled": False},
                    "context": {"fileName": ["no-such-file"]},
                }
            },
        ),
        Cage(
            agent="copilot",
            program="copilot",
            words=("-s", "--available-tools=none", "--disable-builtin-mcps", "--no-custom-instructions"),
            variables={"COPILOT_HOME": "{folder}/home", "COPILOT_AUTO_UPDATE": "false"},
            asks_by_argument="-p",
        ),
        Cage(
            agent="opencode",
            program="opencode",
            words=("run", "--title", "memfs", "--pure", "--agent", "cage"),
            variables={"OPENCODE_DISABLE_AUTOUPDATE": "1", "XDG_CONFIG_HOME": "{folder}/config"},
            copied=(".config/" + _OPENCODE, ("model", "small_model", "provider"), "config/" + _OPENCODE),
            files={
                "opencode.json": {
                    "autoupdate": False,
                    "share": "disabled",
                    "agent": {
                        "cage": {"mode": "primary", "prompt": "You answer with JSON.", "permission": {"*": "deny"}}
                    },
                }
            },
        ),
    )
}  # fmt: skip


def is_inside(environ: Mapping[str, str]) -> bool:
    """Return whether this process was started by a caged agent: then nothing is captured and no hook answers."""
    return MARK in environ


def make_caged(cage: Cage, places: Places, environ: Mapping[str, str]) -> Ask:
    """Return what asks the caged agent. Raises :class:`SetupError` unless its cage is proved for this program."""
    program = require_program(cage.program, environ)
    if not is_proved(cage, places, program):
        raise SetupError(
            f"the cage for {cage.agent} is not proved for the program that is installed, so nothing is captured",
            hint=f"memfs doctor cage {cage.agent}",
        )

    def ask(instructions: str, record: str) -> str:
        variables = {name: value for name, value in environ.items() if not name.startswith(("GIT_", "MEMFS_"))}
        with open_folder(cage, places, variables) as folder:
            done = run(cage, program, f"{instructions}\n\n{record}", folder=folder, variables=variables)
            answer = folder / "answer"
            out = answer.read_bytes()[:_LONGEST] if answer.is_file() else done.stdout[:_LONGEST]
        if done.returncode != 0:
            raise SetupError(f"{cage.agent} ended with status {done.returncode}; nothing was kept")
        return out.decode("utf-8", "replace")

    return ask


def run(
    cage: Cage,
    program: str,
    question: str,
    *,
    folder: Path,
    variables: Mapping[str, str],
    more: Sequence[str] = (),
) -> Completed:
    """Run the caged program in ``folder`` with ``question``, and return how it ended.

    Raises :class:`SetupError` for one that cannot be run or does not end.
    """
    at = [word.replace("{folder}", str(folder)) for word in cage.words]
    given = [cage.asks_by_argument, question] if cage.asks_by_argument else []
    own = {name: value.replace("{folder}", str(folder)) for name, value in cage.variables.items()}
    return run_program(
        [program, *_placed(at, more), *given],
        cwd=folder,
        env={**variables, **own, MARK: "1"},
        input=b"" if given else question.encode(),
        timeout=SECONDS,
        check=False,
    )


def _placed(words: Sequence[str], more: Sequence[str]) -> list[str]:
    """Return ``words`` with ``more`` behind them, before a ``-`` that ends them."""
    return [*words[:-1], *more, "-"] if words and words[-1] == "-" else [*words, *more]


@contextmanager
def open_folder(cage: Cage, places: Places, variables: Mapping[str, str]) -> Iterator[Path]:
    """Make the cage's own folder with its files, and take it away afterwards.

    Raises :class:`SetupError` where the agent's own settings, of which some stay, cannot be read.
    """
    folder = Path(tempfile.mkdtemp(prefix=f"{cage.agent}-", dir=make_folder(places, "cache", "capture")))
    try:
        for name, value in {**cage.files, **_copied(cage, variables)}.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(value))
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _copied(cage: Cage, variables: Mapping[str, str]) -> dict[str, Any]:
    """Return the user's settings that a cage needs: which model answers, and nothing that runs."""
    if cage.copied is None:
        return {}
    path, keys, name = cage.copied
    place = Path(variables.get("HOME", "/nowhere"), path)
    if not place.exists():
        return {}
    try:
        whole = json.loads(place.read_text(encoding="utf-8"))
        return {name: {key: whole[key] for key in keys if key in whole}}
    except (OSError, ValueError, TypeError):
        raise SetupError("the agent's settings cannot be read, so there is no cage", where=str(place)) from None


def is_proved(cage: Cage, places: Places, program: str) -> bool:
    """Return whether the cage was proved for the file that ``program`` is now."""
    try:
        kept = read_own(make_folder(places, "state", "capture") / f"cage-{cage.agent}.json", limit=4096)
        return kept is not None and json.loads(kept) == _print_of(program)
    except (MemfsError, ValueError, OSError):
        return False


def keep_proof(cage: Cage, places: Places, program: str, *, proved: bool) -> None:
    """Note that the cage was proved for ``program``, or that it was not."""
    path = make_folder(places, "state", "capture") / f"cage-{cage.agent}.json"
    replace_own(path, json.dumps(_print_of(program) if proved else {}).encode() + b"\n")


def _print_of(program: str) -> dict[str, Any]:
    """Return what tells one installed program from another: where it is, how large, and since when."""
    real = os.path.realpath(program)
    status = os.stat(real)
    return {"program": real, "size": status.st_size, "mtime_ns": status.st_mtime_ns}
