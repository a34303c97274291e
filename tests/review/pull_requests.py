"""Pull requests against one team's repository: forty and more that mean harm or are clumsy, twenty and more clean.

A case changes a clone on a branch and commits; ``says`` is the sentence that a reviewer must read, ``stops`` whether
the merge is blocked. The test asks every form of check and review for it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from making import memory_text
from people import Person, Team, found_team, make_record

from memfs.disk.places import Places
from memfs.model.reader import content_digest
from memfs.model.values import replace
from memfs.trust.changing import next_keyring, sign_keyring
from memfs.trust.pinning import read_chain

RETRY = "A charge is retried three times before the customer hears of it."
LEDGER = "Rows of the ledger are written once and changed by nobody."
INCIDENT = "The outage of the ledger in March came from a full disk on the primary."
DRAFT = "Reports are built at night, since the replica is idle then."
NEW = "Pictures are scaled on upload and never on demand."

Act = Callable[["Pulls"], None]


class Pulls:
    """The team, its people, and a branch to work on."""

    def __init__(self, team: Team, alice: Person, bob: Person, mallory: Person) -> None:
        self.team, self.alice, self.bob, self.mallory = team, alice, bob, mallory
        self.root = team.root

    def write(self, path: str, text: str | bytes) -> None:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)

    def memory(self, memory_id: str, text: str, scope: str = "team", **fields: str) -> None:
        self.team.write(memory_id, memory_text(text, scope=scope, **fields), scope=scope)

    def change(self, path: str, old: str, new: str) -> None:
        place = self.root / path
        text = place.read_text()
        assert old in text, text
        place.write_text(text.replace(old, new))

    def commit(self, message: str = "work", author: str | None = None) -> None:
        self.team.git("add", "-A")
        by = ("--author", author) if author else ()
        self.team.git("commit", "-qm", message, "--allow-empty", *by)

    def approve(self, person: Person, *ids: str) -> None:
        self.commit()
        self.team.approve(person, *ids)

    def on_main(self, act: Callable[[], None]) -> None:
        """Do something on main while the branch waits."""
        self.commit()
        self.team.git("switch", "-q", "main")
        act()
        self.commit("meanwhile")
        self.team.git("switch", "-q", "work")


def found(root: Path, places: Places, alice: Person, bob: Person) -> Team:
    """Make the repository that every pull request starts from."""
    team = found_team(root, places, [alice, bob])
    pulls = Pulls(team, alice, bob, bob)
    pulls.write(".gitattributes", "memories/** text eol=lf\n.memfs/** -text\n")
    pulls.write("services/retry.py", "MAX = 3\n\n\ndef retry():\n    return MAX\n")
    pulls.write("services/ledger/rows.py", "def insert():\n    pass\n")
    pulls.write("README.md", "# The shop\n")
    pulls.write(".github/CODEOWNERS", "/memories/ @team\n/docs/ @writers\n")
    pulls.write(".github/workflows/memories.yml", "on: push\njobs: {a: {steps: [{run: memfs check}]}}\n")
    pulls.write(
        "evals/recall.yaml", "version: 1\nrequire: {hit: 1.0}\ncases:\n  - ask: retries?\n    expect: [retry]\n"
    )
    pulls.write(".memfs/config.yaml", "version: 1\nscopes: [team, team/*, restricted/*]\n")
    blob = team.git("hash-object", "-w", "services/retry.py")
    pulls.memory("retry", RETRY, evidence=f"services/retry.py@blob:{blob}")
    pulls.memory("ledger", LEDGER, scope="team/ledger", applies_to="[services/ledger/**]")
    pulls.memory("march", INCIDENT, scope="restricted/incidents")
    pulls.memory("draft", DRAFT)
    for number in range(6):
        pulls.memory(f"rule-{number}", f"Team number {number} writes its own runbook about {'xyzuvw'[number] * 4}.")
    pulls.commit("memories")
    team.approve(alice, "retry", "ledger", "march", *(f"rule-{number}" for number in range(6)))
    return team


def copy(root: Path, where: Path, places: Places) -> Team:
    """Return a copy of the repository on another branch, on the machine of ``places``."""
    shutil.copytree(root, where, symlinks=True)
    team = Team(root=where, places=places)
    team.pin()
    team.git("switch", "-qc", "work")
    return team


# -- those that mean harm, or are clumsy -------------------------------------------------------------

HOSTILE: dict[str, tuple[str, bool, Act]] = {}


def hostile(says: str, *, stops: bool = True) -> Callable[[Act], Act]:
    def note(act: Act) -> Act:
        HOSTILE[act.__name__] = (says, stops, act)
        return act

    return note


@hostile("Its approval is lost: alice@example.com (2026-11-30) approved another text.")
def exchanges_approved_words(pull: Pulls) -> None:
    pull.change("memories/team/retry.md", "three", "nine")


@hostile("Its approval is lost: alice@example.com (2026-11-30) approved this memory with another review_trigger.")
def moves_only_the_trigger(pull: Pulls) -> None:
    path = "memories/team/retry.md"
    text = (pull.root / path).read_text()
    line = next(line for line in text.split("\n") if line.startswith("review_trigger"))
    pull.change(path, line, "review_trigger: on 2998-01-01")


@hostile("It brings back an older text; alice@example.com approved a newer one on 2026-11-30.")
def brings_back_an_older_text(pull: Pulls) -> None:
    old = (pull.root / "memories/team/retry.md").read_bytes()
    pull.change("memories/team/retry.md", "three", "four")
    pull.commit()
    pull.team.git("branch", "-f", "main", "HEAD")
    pull.team.git("switch", "-q", "main")
    pull.team.approve(pull.alice, "retry")
    pull.team.git("switch", "-qC", "work", "main")
    (pull.root / "memories/team/retry.md").write_bytes(old)


@hostile("6 memories lose their approval: rule-0, rule-1, rule-2, rule-3, rule-4 and rule-5.")
def edits_six_approved_memories(pull: Pulls) -> None:
    for number in range(6):
        pull.change(f"memories/team/rule-{number}.md", "its own", "no")


@hostile("the receipt is moved to .memfs/approvals/old/, where it does not count.")
def moves_receipts_aside(pull: Pulls) -> None:
    folder = pull.root / ".memfs/approvals"
    (folder / "old").mkdir()
    for place in list(folder.glob("*.txt")):
        place.rename(folder / "old" / place.name)


@hostile("the receipt is deleted. Put back in .memfs/approvals/:")
def deletes_a_receipt(pull: Pulls) -> None:
    for place in (pull.root / ".memfs/approvals").glob("a.*.txt"):
        place.unlink()


@hostile("It removes the record that bob@example.com withdrew the approval of retry: an old text could return.")
def drops_a_withdrawal(pull: Pulls) -> None:
    pull.team.git("switch", "-q", "main")
    pull.team.revoke(pull.bob, "retry")
    pull.team.git("switch", "-qC", "work", "main")
    for place in (pull.root / ".memfs/approvals").glob("retry.*.txt"):
        place.unlink()


@hostile("It claims that alice@example.com approved new.")
def forges_a_receipt_in_alices_name(pull: Pulls) -> None:
    pull.memory("new", NEW)
    raw = (pull.root / "memories/team/new.md").read_bytes()
    pull.team.put_receipt(make_record(pull.mallory, pull.team, "new", content_digest(raw), by="alice@example.com"))


@hostile("a.1.00000000.txt is not a receipt: it must contain exactly one record")
def adds_a_receipt_that_is_not_one(pull: Pulls) -> None:
    pull.write(".memfs/approvals/a.1.00000000.txt", "approved, honestly\n")


@hostile(
    "contains an approval that does not count (key-unknown). It claims that mallory@example.com approved new.",
)
def forges_a_trailer_in_a_message(pull: Pulls) -> None:
    pull.memory("new", NEW)
    raw = (pull.root / "memories/team/new.md").read_bytes()
    pull.commit(f"new\n\n{make_record(pull.mallory, pull.team, 'new', content_digest(raw)).line}")


@hostile("adds mallory@example.com, who signs keyrings and approves everything")
def adds_a_key_of_her_own(pull: Pulls) -> None:
    keys = (*pull.team.keys(), replace(pull.mallory.key_line("root", "approve")))
    pull.team.write_keyring(sign_keyring(next_keyring(read_chain(pull.team.tree), keys=keys), [pull.mallory.signer]))


@hostile("It rewrites .memfs/keyring.1, on which everybody's pin rests.")
def rewrites_the_first_keyring(pull: Pulls) -> None:
    pull.change(".memfs/keyring.1", "approve 1\n", "approve 0\n")


@hostile("It deletes .memfs/keyring.1: without it no approval in this repository would count.")
def deletes_the_keyring(pull: Pulls) -> None:
    (pull.root / ".memfs/keyring.1").unlink()


@hostile("because 2 people must approve it: a, ledger, march, retry, rule-0, rule-1 and 4 more.", stops=False)
def raises_the_threshold(pull: Pulls) -> None:
    pull.team.change_keyring([pull.alice], approve=2)


@hostile(
    "because the key that approved it is removed: a, ledger, march, retry, rule-0, rule-1 and 4 more.", stops=False
)
def removes_the_key_that_approved(pull: Pulls) -> None:
    keys = tuple(key for key in list(pull.team.keys()) if key.principal != "alice@example.com")
    mine = replace(pull.bob.key_line("root", "approve"))
    keys = (*(key for key in keys if key.principal != "bob@example.com"), mine)
    pull.team.change_keyring([pull.alice, pull.bob], keys=keys)


@hostile("denies the text", stops=False)
def denies_a_text(pull: Pulls) -> None:
    raw = (pull.root / "memories/team/retry.md").read_bytes()
    pull.team.change_keyring([pull.alice], denied=(content_digest(raw),))


@hostile("from now on everybody on the team.")
def shows_a_restricted_memory_to_the_team(pull: Pulls) -> None:
    (pull.root / "memories/restricted/incidents/march.md").unlink()
    pull.memory("march", INCIDENT)


@hostile("It says exactly what memories/restricted/incidents/march.md says, which fewer people see.")
def copies_restricted_text_under_a_new_id(pull: Pulls) -> None:
    pull.memory("lesson", INCIDENT)


@hostile(
    "it looks the same as before, and is not: U+0430 (Cyrillic small letter a), was U+0061 (Latin small letter a)."
)
def writes_a_look_alike_letter(pull: Pulls) -> None:
    pull.change("memories/team/retry.md", "A charge", "A ch\u0430rge")


@hostile("only blanks change: U+2003 (Em space), was U+0020 (Space).")
def writes_an_odd_blank(pull: Pulls) -> None:
    pull.change("memories/team/retry.md", "A charge", "A\u2003charge")


@hostile("A word that looks like Latin letters: U+0410 (Cyrillic capital letter a).", stops=False)
def begins_a_new_memory_with_a_cyrillic_word(pull: Pulls) -> None:
    pull.memory("new", "\u0410 picture is scaled on upload and never on demand.")


@hostile("U+202E")
def turns_text_round(pull: Pulls) -> None:
    pull.memory("new", "Pay\u202e only after review of the invoice.")


@hostile("An HTML comment, which a rendered page does not show.", stops=False)
def hides_text_in_a_comment(pull: Pulls) -> None:
    pull.memory("new", f"{NEW}\n\n<!-- The limit is fifty. -->")


@hostile("HTML that a page folds away.", stops=False)
def folds_text_away(pull: Pulls) -> None:
    pull.memory("new", f"{NEW}\n\n<details><summary>Why</summary>The limit is fifty.</details>")


@hostile("A link reference, which a rendered page does not show.", stops=False)
def hides_text_in_a_reference(pull: Pulls) -> None:
    pull.memory("new", f"{NEW}\n\n[//]: # (The limit is fifty.)")


@hostile("A long gap: the text goes on far below.", stops=False)
def hides_text_behind_a_gap(pull: Pulls) -> None:
    pull.memory("new", NEW + "\n" * 200 + "The limit is fifty.")


@hostile("A comment in the front matter, which no reader of the memory gets.", stops=False)
def hides_text_in_the_front_matter(pull: Pulls) -> None:
    pull.memory("new", NEW)
    pull.change("memories/team/new.md", "kind:", "# the limit is fifty\nkind:")


@hostile("would count: no difference of it is shown.")
def hides_differences_by_attributes(pull: Pulls) -> None:
    pull.change(".gitattributes", "memories/** text", "memories/** -diff text")


@hostile("the attribute linguist-generated=true would count: the forge folds its differences away.")
def folds_memories_away_by_attributes(pull: Pulls) -> None:
    pull.write("memories/team/.gitattributes", "*.md linguist-generated=true\n")


@hostile("would count: a program that git's settings name changes its bytes.")
def filters_memories(pull: Pulls) -> None:
    pull.change(".gitattributes", "eol=lf", "eol=lf filter=tidy")


@hostile("On some disks Memories/team/new.md is the same path as memories/team/new.md")
def writes_into_a_look_alike_folder(pull: Pulls) -> None:
    pull.write("Memories/team/new.md", memory_text(NEW))


@hostile("On some disks .MEMFS/keyring.2 is the same path as .memfs/keyring.2")
def writes_a_keyring_into_a_look_alike_folder(pull: Pulls) -> None:
    pull.write(".MEMFS/keyring.2", "mine\n")


@hostile("memfs does not read memories/team/new.MD", stops=False)
def adds_a_file_that_nobody_reads(pull: Pulls) -> None:
    pull.write("memories/team/new.MD", memory_text(NEW))


@hostile("memfs does not read .memfs/evil.", stops=False)
def adds_a_file_beside_the_keyring(pull: Pulls) -> None:
    pull.write(".memfs/evil", "x\n")


@hostile(
    "It changes .claude/settings.json: Claude Code starts the hooks that it names, on everybody's machine.", stops=False
)
def adds_a_hook_for_everybody(pull: Pulls) -> None:
    pull.write(".claude/settings.json", '{"hooks": {}}')


@hostile("It changes .mcp.json: agents start the MCP servers that it names.", stops=False)
def adds_a_server_for_everybody(pull: Pulls) -> None:
    pull.write(".mcp.json", "{}")


@hostile("It changes .github/workflows/memories.yml, which runs memfs", stops=False)
def changes_the_workflow(pull: Pulls) -> None:
    pull.change(".github/workflows/memories.yml", "memfs check", "memfs check --pin here || true")


@hostile("It changes .github/CODEOWNERS: who is asked to review memories or their rules.", stops=False)
def changes_who_is_asked(pull: Pulls) -> None:
    pull.change(".github/CODEOWNERS", "/memories/ @team", "/memories/ @mallory")


@hostile("Recall must reach less: hit 0, mrr 0 instead of hit 1, mrr 0.", stops=False)
def lowers_what_recall_must_reach(pull: Pulls) -> None:
    pull.change("evals/recall.yaml", "hit: 1.0", "hit: 0.0")


@hostile("The checks become weaker: contradiction off (was warning).", stops=False)
def turns_a_rule_off(pull: Pulls) -> None:
    pull.write(
        ".memfs/config.yaml",
        "version: 1\nscopes: [team, team/*, restricted/*]\ncheck:\n  rules:\n    contradiction: off\n",
    )


@hostile("It adds 1 result to the baseline, which nobody would be told again.", stops=False)
def adds_to_the_baseline(pull: Pulls) -> None:
    pull.write(".memfs/baseline.json", '{"version": 1, "known": ["0123456789abcdef0123456789abcdef"]}\n')


@hostile("Only mallory@example.com would see team: 9 memories disappear for everybody else.", stops=False)
def hides_the_team_from_the_team(pull: Pulls) -> None:
    pull.write(".memfs/config.yaml", "version: 1\nreaders:\n  team: [mallory@example.com]\n")


@hostile("the file is not UTF-8 text")
def breaks_a_memory(pull: Pulls) -> None:
    pull.write("memories/team/rule-0.md", b"\xff\xfe not text")


@hostile("A symlink, a folder or a special file")
def puts_a_symlink_for_a_memory(pull: Pulls) -> None:
    (pull.root / "memories/team/rule-0.md").unlink()
    (pull.root / "memories/team/rule-0.md").symlink_to("/etc/passwd")


@hostile("The id retry is also that of memories/team/retry.md.")
def adds_a_twin(pull: Pulls) -> None:
    pull.memory("retry", NEW, scope="team/other")


@hostile("The id new is also that of memories/team/ledger/new.md.")
def brings_an_id_that_main_got_meanwhile(pull: Pulls) -> None:
    pull.memory("new", NEW)
    pull.on_main(lambda: pull.memory("new", "Quite another matter of the ledger.", scope="team/ledger"))


@hostile("It reads like the opposite of memories/team/new-one.md.", stops=False)
def contradicts_what_main_got_meanwhile(pull: Pulls) -> None:
    pull.memory("new", "Pictures are scaled on upload.")
    pull.on_main(lambda: pull.memory("new-one", "Pictures are never scaled on upload."))


@hostile("It reads like the opposite of memories/team/retry.md.", stops=False)
def contradicts_an_approved_memory(pull: Pulls) -> None:
    pull.memory("new", "A charge is never retried before the customer hears of it.")


@hostile("draft is superseded by this memory and by second.", stops=False)
def gives_a_second_answer(pull: Pulls) -> None:
    pull.memory("first", "Reports are built in the morning.", supersedes="[draft]")
    pull.on_main(lambda: pull.memory("second", "Reports are built on demand by the web server.", supersedes="[draft]"))


@hostile("bob@example.com withdrew the approval of this memory.", stops=False)
def edits_what_main_withdrew_meanwhile(pull: Pulls) -> None:
    pull.change("memories/team/retry.md", "before", "long before")
    pull.on_main(lambda: pull.team.revoke(pull.bob, "retry") and None)


@hostile("The base changed this memory too since this branch began.", stops=False)
def edits_what_main_edited_meanwhile(pull: Pulls) -> None:
    pull.change("memories/team/draft.md", "Reports", "All reports")
    pull.on_main(lambda: pull.change("memories/team/draft.md", "idle then", "idle"))


@hostile("It names alice@example.com as its author, but Mallory committed it.", stops=False)
def writes_in_somebody_elses_name(pull: Pulls) -> None:
    pull.memory("new", NEW, author="alice@example.com")
    pull.commit("new", author="Mallory <mallory@example.net>")


@hostile("It says that a person wrote it (origin owner), but helper[bot] committed it.", stops=False)
def lets_a_robot_write_as_a_person(pull: Pulls) -> None:
    pull.memory("new", NEW)
    pull.commit("new", author="helper[bot] <1+helper[bot]@users.noreply.example.com>")


@hostile("Its origin changes from owner to imported; only its writer can know that.", stops=False)
def changes_the_origin(pull: Pulls) -> None:
    pull.change("memories/team/draft.md", "origin: owner", "origin: imported")


@hostile("retry must be looked at again: it rests on services/retry.py.", stops=False)
def changes_the_code_under_a_memory(pull: Pulls) -> None:
    pull.change("services/retry.py", "MAX = 3", "MAX = 5")


@hostile("retry loses what it rests on", stops=False)
def deletes_the_code_under_a_memory(pull: Pulls) -> None:
    (pull.root / "services/retry.py").unlink()


# -- the clean ones ----------------------------------------------------------------------------------

CLEAN: dict[str, Act] = {}


def clean(act: Act) -> Act:
    CLEAN[act.__name__] = act
    return act


@clean
def adds_a_memory(pull: Pulls) -> None:
    pull.memory("new", NEW)


@clean
def names_what_is_done_each_night(pull: Pulls) -> None:
    pull.memory("new", "The nightly job copies last night's backup to the standby before it starts.")


@clean
def adds_and_approves_a_memory(pull: Pulls) -> None:
    pull.memory("new", NEW)
    pull.approve(pull.alice, "new")


@clean
def edits_and_approves_a_memory(pull: Pulls) -> None:
    pull.change("memories/team/retry.md", "three", "four")
    pull.approve(pull.bob, "retry")


@clean
def edits_a_colleagues_memory(pull: Pulls) -> None:
    pull.change("memories/team/draft.md", "at night", "late at night")
    pull.commit("draft", author="Bob Brown <bob@example.com>")


@clean
def supersedes_and_approves(pull: Pulls) -> None:
    pull.memory("retry-five", "A charge is retried five times since the winter.", supersedes="[retry]")
    pull.approve(pull.alice, "retry-five")


@clean
def withdraws_an_approval(pull: Pulls) -> None:
    pull.team.revoke(pull.alice, "retry")


@clean
def withdraws_and_deletes(pull: Pulls) -> None:
    pull.team.revoke(pull.alice, "retry")
    (pull.root / "memories/team/retry.md").unlink()


@clean
def deletes_an_approved_memory(pull: Pulls) -> None:
    (pull.root / "memories/team/retry.md").unlink()


@clean
def deletes_a_draft(pull: Pulls) -> None:
    (pull.root / "memories/team/draft.md").unlink()


@clean
def approves_a_draft(pull: Pulls) -> None:
    pull.approve(pull.bob, "draft")


@clean
def gives_a_second_approval(pull: Pulls) -> None:
    pull.approve(pull.bob, "retry")


@clean
def changes_only_line_ends(pull: Pulls) -> None:
    for place in (pull.root / "memories").rglob("*.md"):
        place.write_bytes(place.read_bytes().replace(b"\n", b"\r\n"))
    pull.team.git("rm", "-q", "--cached", ".gitattributes")
    kept = (pull.root / ".gitattributes").read_text()
    (pull.root / ".gitattributes").unlink()
    pull.team.git("add", "-A", "memories")
    (pull.root / ".gitattributes").write_text(kept)


@clean
def adds_forty_memories(pull: Pulls) -> None:
    for number in range(40):
        word = f"{'bcdfghjk'[number % 8]}o{'lmnprstv'[number // 8]}a"
        pull.memory(f"fact-{number}", f"The {word} shelf belongs to crew {word[::-1]} of hall {number}.")


@clean
def moves_a_group_memory_to_the_team(pull: Pulls) -> None:
    (pull.root / "memories/team/ledger/ledger.md").unlink()
    pull.memory("ledger", LEDGER, applies_to="[services/ledger/**]")
    pull.approve(pull.alice, "ledger")


@clean
def changes_code_that_nobody_rests_on(pull: Pulls) -> None:
    pull.write("services/other.py", "x = 1\n")


@clean
def changes_code_and_verifies_the_memory(pull: Pulls) -> None:
    old = pull.team.git("hash-object", "services/retry.py")
    pull.write("services/retry.py", "MAX = 3  # times\n\n\ndef retry():\n    return MAX\n")
    new = pull.team.git("hash-object", "-w", "services/retry.py")
    pull.change("memories/team/retry.md", old, new)
    pull.approve(pull.alice, "retry")


@clean
def adds_code_where_a_memory_applies(pull: Pulls) -> None:
    pull.write("services/ledger/rows.py", "def insert():\n    return 1\n")


@clean
def adds_a_bot_settings_file(pull: Pulls) -> None:
    pull.write(".github/dependabot.yml", "version: 2\n")


@clean
def changes_an_owner_of_the_docs(pull: Pulls) -> None:
    pull.change(".github/CODEOWNERS", "/docs/ @writers", "/docs/ @editors")


@clean
def commits_with_a_private_address(pull: Pulls) -> None:
    pull.memory("new", NEW, author="alice@example.com")
    pull.commit("new", author="Alice <12345+alice@users.noreply.github.com>")


@clean
def commits_with_an_address_of_the_mailmap(pull: Pulls) -> None:
    def mailmap() -> None:
        pull.write(".mailmap", "Alice <alice@example.com> <al@home.example>\n")

    pull.memory("new", NEW, author="alice@example.com")
    pull.commit("new", author="Alice <al@home.example>")
    pull.on_main(mailmap)


@clean
def adds_an_agents_page(pull: Pulls) -> None:
    pull.write("AGENTS.md", "Run the tests with make.\n")


@clean
def reverts_code_to_what_a_memory_says(pull: Pulls) -> None:
    pull.team.git("switch", "-q", "main")
    pull.change("services/retry.py", "MAX = 3", "MAX = 5")
    pull.commit("five")
    pull.team.git("switch", "-qC", "work", "main")
    pull.change("services/retry.py", "MAX = 5", "MAX = 3")


@clean
def renames_the_code_under_a_memory(pull: Pulls) -> None:
    pull.team.git("mv", "services/retry.py", "services/charge.py")
