"""Every rule of ``memfs check``, as data. docs/reference/checks.md says the same in the same order. Pure."""

from __future__ import annotations

from memfs.check.results import Level, Result
from memfs.model.values import dataclass

RULES_VERSION = 3
"""Changes with what a file alone is told: results kept under another number are found again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule: a stable name, how much it matters, what is wrong, and what to do about it."""

    name: str
    level: Level
    sentence: str
    fix: str | None = None
    group: str = ""


GROUPS: dict[str, str] = {
    "file": "Files and names",
    "form": "Form",
    "evidence": "Evidence",
    "due": "Triggers and expiry",
    "others": "One memory and the others",
    "admission": "Admission",
    "trust": "Approvals and keyring",
    "repository": "The repository",
    "change": "A change (`--staged`, `--base`)",
}

_E, _W, _N = Level.ERROR, Level.WARNING, Level.NOTE


def _rules(group: str, *rows: tuple[str, Level, str, str | None]) -> list[Rule]:
    return [Rule(name=name, level=level, sentence=text, fix=fix, group=group) for name, level, text, fix in rows]


_ALL = [
    *_rules(
        "file",
        ("unreadable-file", _E, "The file cannot be read as text.", "Save it as UTF-8 text below 256 KiB."),
        (
            "conflict-markers",
            _E,
            "The file holds two versions between git's conflict markers.",
            "Run `memfs edit --merge ID`: it shows both versions field by field.",
        ),
        (
            "unmerged",
            _E,
            "Two branches changed this memory, and git could not join them.",
            "Run `memfs edit --merge ID`, then `git add` the file.",
        ),
        ("lfs-pointer", _E, "A Git LFS pointer lies here instead of the file.", "Take memories out of Git LFS."),
        (
            "not-a-file",
            _E,
            "A symlink, a folder or a special file stands where a file should; it is not followed.",
            "Put the file itself here.",
        ),
        ("nested-repository", _E, "Another repository lies inside memories/; it is not entered.", "Move it elsewhere."),
        (
            "bad-id",
            _E,
            "The file's name is no id.",
            "Rename it: lower-case letters, digits and dashes, at most 64, then `.md`.",
        ),
        (
            "misplaced-file",
            _E,
            "The file lies in no scope folder.",
            "Move it to memories/personal/, memories/team/[NAME/] or memories/restricted/NAME/.",
        ),
        ("reserved-name", _E, "Windows cannot store a file or folder of this name.", "Rename it."),
        (
            "case-clash",
            _E,
            "Two paths differ only in case or Unicode form; some disks can hold only one of them.",
            "Rename one of them.",
        ),
        ("duplicate-id", _E, "Another file has this id; only one of them can be approved.", "Rename one of them."),
    ),
    *_rules(
        "form",
        (
            "bad-front-matter",
            _E,
            "The front matter is not the flat form of a memory.",
            "See the reference of the format.",
        ),
        ("missing-field", _E, "A required field is missing.", "Add it to the front matter."),
        ("bad-value", _E, "A field's value does not have the form that it needs.", "Write it as the message says."),
        (
            "scope-folder",
            _E,
            "The scope is not the folder that the file lies in.",
            "Change one of them; the folder wins.",
        ),
        ("no-statement", _E, "There is no text below the front matter.", "Begin with one paragraph that stands alone."),
        ("unknown-key", _N, "A key is no field of a memory; it is kept and not used.", "Take it out, or leave it."),
        (
            "not-normal-form",
            _W,
            "The file is not written as memfs writes it (Unicode NFC, LF, no trailing blanks, one final newline).",
            "Run `memfs check --fix`.",
        ),
        (
            "long-line",
            _W,
            "A line is so long that forges hide part of it in a review.",
            "Break the line; a single line end changes nothing in Markdown.",
        ),
    ),
    *_rules(
        "evidence",
        (
            "evidence-untied",
            _W,
            "An example's evidence is tied to no commit yet.",
            "Run `memfs init` here; it ties the examples to your first commit.",
        ),
        (
            "evidence-no-commit",
            _E,
            "The evidence names a commit that this repository does not have.",
            "Name a commit that is on the remote; `git log -- PATH` shows those that hold the file.",
        ),
        (
            "evidence-no-path",
            _E,
            "The commit is here, but the file was not in it.",
            "`git log -- PATH` shows the commits that hold the file.",
        ),
        (
            "evidence-may-vanish",
            _W,
            "The evidence names a commit that is only on this branch; a squash merge loses it.",
            "Name a commit of the base, or merge without squashing.",
        ),
        (
            "evidence-changed",
            _W,
            "The evidence has changed since; the memory is shown as one to look at again.",
            "Read it again; if the memory still holds, name the newer commit.",
        ),
        (
            "evidence-gone",
            _W,
            "The evidence is no longer in the repository.",
            "Name evidence that is there, or say that the memory no longer holds.",
        ),
    ),
    *_rules(
        "due",
        ("due", _W, "The review trigger has fired.", "Look at it again, then `memfs edit ID --review …`."),
        ("expired", _W, "The day of `expires` has come.", "Delete it (`memfs forget ID`), or say why it still holds."),
        (
            "trigger-blind",
            _W,
            "The review trigger can never fire here.",
            "Name a file, a package or a memory that this repository has.",
        ),
    ),
    *_rules(
        "others",
        ("supersedes-unknown", _W, "It supersedes an id that is not here.", "Correct the id, or leave it as a record."),
        (
            "supersession-cycle",
            _E,
            "Memories supersede each other in a circle; none of them counts.",
            "Break the circle.",
        ),
        (
            "two-answers",
            _W,
            "Two memories supersede the same one: there are two current answers to one question.",
            "Let one of them supersede the other.",
        ),
        (
            "supersedes-for-others",
            _W,
            "It supersedes a memory that people see who do not see this one.",
            "Give it a scope that all of them see.",
        ),
        ("duplicate-text", _W, "Another memory says exactly the same.", "Keep one of them."),
        (
            "near-duplicate",
            _W,
            "Another memory says nearly the same.",
            "Let one supersede the other, or say the difference.",
        ),
        (
            "contradiction",
            _W,
            "It reads like the opposite of another memory.",
            "Let one supersede the other, or say when which one holds.",
        ),
    ),
    *_rules(
        "admission",
        (
            "secret",
            _E,
            "It looks like a credential.",
            "Take it out, and replace the credential: git keeps it in history.",
        ),
        ("personal-data", _E, "It looks like personal data.", "Take it out; say what is needed without the person."),
        ("hidden-character", _E, "It holds characters that nobody sees.", "Delete them; `memfs show ID` marks them."),
        ("authority", _E, "It grants authority or instructs its reader.", "Say what was decided, by whom, and where."),
        (
            "held",
            _E,
            "Admission holds this text until a person has approved it.",
            "A reviewer approves it (`memfs review --approve`), or it is reworded.",
        ),
        (
            "allowed-by-itself",
            _E,
            "The file lets one of admission's rules pass, and nobody has approved that.",
            "A reviewer approves it (`memfs review --approve`), or it is reworded.",
        ),
        ("mixed-script", _W, "A word mixes alphabets that look alike.", "Write the word in one alphabet."),
        (
            "transient",
            _W,
            "It looks like something that will not matter in three months.",
            "Say what lasts, or drop it.",
        ),
        ("colleague-named", _W, "The text names a colleague.", "Name the team or the role, if that is enough."),
    ),
    *_rules(
        "trust",
        (
            "keyring-refused",
            _E,
            "The keyring is refused, so nothing here is trusted.",
            "`memfs keys` says what is missing.",
        ),
        (
            "receipt-unreadable",
            _E,
            "A receipt does not hold exactly the one record that its name promises.",
            "Delete it; `memfs trust --sync` writes it again from the history.",
        ),
        (
            "receipt-refused",
            _W,
            "A receipt's signature does not hold under the keyring.",
            "Delete it, or have the memory approved again.",
        ),
        (
            "approval-lost",
            _W,
            "The text is not the one that was approved.",
            "Have it approved again (`memfs trust ID`), or go back to the approved text.",
        ),
    ),
    *_rules(
        "repository",
        (
            "bad-settings",
            _E,
            ".memfs/config.yaml is not valid.",
            "Correct it; until then nobody reads a restricted scope here.",
        ),
        (
            "bad-questions",
            _E,
            "A file of questions (evals/) cannot be read.",
            "Correct it; `memfs eval` names the place.",
        ),
        (
            "attributes",
            _W,
            ".gitattributes lets git change bytes that people sign.",
            "Add the lines `memories/** text eol=lf` and `.memfs/** -text`, without `merge=union`.",
        ),
    ),
    *_rules(
        "change",
        (
            "scope-wider",
            _W,
            "More people would see this memory than before.",
            "An approver of the wider scope must agree.",
        ),
        (
            "base-moved",
            _W,
            "The base changed this memory too since this branch began.",
            "Merge the base, and look at both versions.",
        ),
    ),
]

RULES: dict[str, Rule] = {rule.name: rule for rule in _ALL}

FORM_RULES: dict[str, str] = {
    "not-utf8": "unreadable-file",
    "nul": "unreadable-file",
    "too-large": "unreadable-file",
    "lone-carriage-return": "unreadable-file",
    "lfs-pointer": "lfs-pointer",
    "conflict-markers": "conflict-markers",
    "missing-field": "missing-field",
    "bad-type": "bad-value",
    "bad-value": "bad-value",
    "scope-folder": "scope-folder",
    "bad-id": "bad-id",
    "no-statement": "no-statement",
    "unknown-key": "unknown-key",
    "tag-key": "unknown-key",
    "byte-order-mark": "not-normal-form",
}
"""The model's problems by the rule that reports them; the others are ``bad-front-matter``."""

SKIP_RULES: dict[str, str] = {
    "nested-repository": "nested-repository",
    "bad-name": "bad-id",
    "too-deep": "misplaced-file",
}
"""The scan's reasons by the rule that reports them; the others are ``not-a-file``."""


def make_result(
    rule: str,
    message: str = "",
    *,
    path: str = "",
    line: int | None = None,
    column: int | None = None,
    fix: str | None = None,
    level: Level | None = None,
    fixable: bool = False,
) -> Result:
    """Return a result of ``rule``: its own sentence, level and fix where nothing better is given."""
    known = RULES[rule]
    return Result(
        rule=rule,
        level=level or known.level,
        message=message or known.sentence,
        path=path,
        line=line,
        column=column,
        fix=fix or known.fix,
        fixable=fixable,
    )
