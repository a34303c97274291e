"""Tell the whole story in a temporary folder: record, approve, recall, and see an approval break.

Each step is shown as the command a person would type and what it printed. A key is made for the
story, your home is not touched, and nothing is left behind. It needs git and ssh-keygen.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import tempfile
from datetime import date
from pathlib import Path

from memfs.cli import main
from memfs.cli.looks import Looks, say_frame
from memfs.cli.session import Session
from memfs.cli.trust_command import approve_ids
from memfs.disk.places import Places
from memfs.disk.worktree import printable
from memfs.errors import UsageError
from memfs.git.process import Completed
from memfs.git.process import run as run_program

MEMORY = "billing-migrations-are-additive"
STATEMENT = (
    "The billing team's accepted migration decision requires additive schema changes while mixed worker "
    "versions are supported."
)
ADR = """# 14. Additive migrations

Accepted. Schema changes are additive while workers of two versions run side by side.
An exclusive table lock was rejected.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--keep", metavar="DIR", help="play it in DIR, which must not exist, and leave it there")


def run(args: argparse.Namespace, session: Session) -> int:

    if args.keep:
        folder = Path(args.keep).absolute()
        if folder.exists():
            raise UsageError("is there already", where=printable(str(folder)), hint="memfs demo --keep NEW-FOLDER")
        folder.mkdir(parents=True)
        Story(folder, session).tell()
        session.say(f"\nThe story's folder is {folder}.")
        return 0
    with tempfile.TemporaryDirectory(prefix="memfs-demo-") as name:
        Story(Path(name), session).tell()
    return 0


class Actor(Session):
    """The person of the story at the terminal: types the id that is asked for."""

    def ask(self, question: str) -> str:
        self.note(f"{question} {MEMORY}")
        return MEMORY


def play(home: str, argv: list[str]) -> None:
    """Run one command with ``home`` as its home, and end the process with its exit code."""

    sys.exit(main(argv, places=Places(home=Path(home))))


def play_approval(home: str) -> None:
    """Approve the story's memory as its person would, at a terminal that is part of the story."""

    places = Places(home=Path(home))
    actor = Actor(places=places, cwd=Path.cwd(), today=date.today(), environ=dict(os.environ), interactive=True)
    sys.exit(approve_ids([MEMORY], actor))


def _quoted(argument: str) -> str:
    """Return an argument as a person would type it."""
    if argument.startswith("~/") and shlex.quote(argument[2:]) == argument[2:]:
        return argument
    if "'" in argument and not set(argument) & set('"$`\\!'):
        return f'"{argument}"'
    return shlex.quote(argument)


class Story:
    """The demo's stage: a home with a key, a project with a decision record."""

    def __init__(self, folder: Path, session: Session) -> None:
        self.home = folder / "home"
        self.project = folder / "project"
        self.session = session
        self.looks = Looks(session)
        self.told: set[str] = set()  # a note is shown once
        self.places = Places(home=self.home)
        # The person's own git settings, ssh-agent and editor have no part in the story.
        self.environ = {
            **{
                name: value
                for name, value in session.environ.items()
                if name in ("PATH", "LANG", "LC_ALL", "TERM", "TMPDIR")
            },
            "HOME": str(self.home),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": str(self.home / ".gitconfig"),
        }

    def tell(self) -> None:
        self._set_the_stage()
        self._say("A project has a decision record. This is where the story starts.")
        self._shell("git", "log", "--oneline", "--stat")
        self._say(
            "Make it a memory repository. The key that signs for you becomes the first in its keyring,\n"
            "and this machine pins it."
        )
        self._memfs("init", "--key", "~/.ssh/id_ed25519")
        self._say("Record the decision, with the file that it rests on and when to look at it again.")
        self._memfs(
            "remember", STATEMENT, "--id", MEMORY, "--kind", "decision", "--scope", "team/billing", "--origin", "owner",
            "--evidence", "docs/adr/0014-additive-migrations.md", "--review", "when docs/support.md changes",
        )  # fmt: skip
        self._say("Another process recalls it. Nobody approved it yet, so it comes framed as plain data.")
        self._memfs("recall", "how do we migrate the billing schema?")
        self._say("A person reads it and signs exactly these bytes. The key's owner types the id to confirm.")
        self._approve()
        self._say("The approval is a signed trailer of a commit, and a receipt in the tree.")
        self._shell("git", "log", "-1", "--format=%B")
        self._say("Now the same recall shows what the team approved, by whom, and that its evidence is unchanged.")
        self._memfs("recall", "how do we migrate the billing schema?")
        self._say("The decision record changes. The memory must be looked at again, and says so first.")
        self._write(
            "docs/adr/0014-additive-migrations.md", ADR.replace("An exclusive", "Superseded in part. An exclusive")
        )
        self._shell("git", "commit", "-qam", "Revise decision 14")
        self._memfs("recall", "how do we migrate the billing schema?")
        self._say("Somebody changes one letter of the memory. The approval no longer fits, and it is gone.")
        path = f"memories/team/billing/{MEMORY}.md"
        self._write(path, (self.project / path).read_text().replace("additive schema", "addictive schema"))
        self._show(f"sed -i 's/additive schema/addictive schema/' {path}")
        self._memfs("recall", "how do we migrate the billing schema?")
        self._memfs("status")
        self._say("That is memfs. `memfs init` in a repository of yours is the next step.")

    def _set_the_stage(self) -> None:
        self.home.mkdir()
        (self.home / ".ssh").mkdir(mode=0o700)
        self._write("docs/adr/0014-additive-migrations.md", ADR)
        self._write("docs/support.md", "# Support\n\nWorkers 4.x and 5.x run side by side.\n")
        key = self.home / ".ssh" / "id_ed25519"
        self._quiet("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "demo", "-f", str(key))
        self._quiet("git", "init", "-q", "-b", "main")
        for name, value in (
            ("user.name", "Alice Example"),
            ("user.email", "alice@example.com"),
            ("commit.gpgsign", "false"),
        ):
            self._quiet("git", "config", "--global", name, value)
        self._quiet("git", "add", "-A")
        self._quiet("git", "commit", "-qm", "Decide that migrations are additive")

    def _approve(self) -> None:
        self._show(f"memfs trust {MEMORY}")
        done = self._child(
            "from memfs.cli.demo_command import play_approval; play_approval(sys.argv[1])", str(self.home)
        )
        say_frame(self.session, (done.stderr + done.stdout).decode().strip("\n"))

    def _memfs(self, *arguments: str) -> None:

        self._show(f"memfs {' '.join(map(_quoted, arguments))}")
        done = self._child(
            "from memfs.cli.demo_command import play; play(sys.argv[1], sys.argv[2:])", str(self.home), *arguments
        )
        notes = [line for line in done.stderr.decode().splitlines() if line not in self.told]
        self.told.update(notes)
        say_frame(self.session, "\n".join([done.stdout.decode().strip("\n"), *notes]))

    def _child(self, code: str, *arguments: str) -> Completed:
        """Run ``code`` in a process whose home is the story's, and return what it printed."""
        argv = [sys.executable, "-I", "-c", f"import sys; {code}", *arguments]
        return run_program(argv, cwd=self.project, env=self.environ, check=False)

    def _shell(self, *argv: str) -> None:

        self._show(shlex.join(argv))
        if said := self._quiet(*argv):
            self.session.say(said)

    def _quiet(self, *argv: str) -> str:
        done = run_program(argv, cwd=self.project, env=self.environ)
        return done.stdout.decode().rstrip("\n")

    def _write(self, path: str, text: str) -> None:
        target = self.project / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def _say(self, text: str) -> None:
        lines = [self.looks.dim(f"# {line}") for line in self._wrapped(text)]
        self.session.say("\n" + "\n".join(lines))

    def _wrapped(self, text: str) -> list[str]:
        if not self.session.draws:
            return text.splitlines()
        return [line.removeprefix("# ") for line in self.looks.wrap(" ".join(text.split()), first="# ", rest="# ")]

    def _show(self, command: str) -> None:
        lines = self.looks.wrap(command, first="$ ", rest="    ") if self.session.draws else [f"$ {command}"]
        self.session.say("\n".join(map(self.looks.bold, lines)))
