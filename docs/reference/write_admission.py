"""Write ``admission.md`` from the tables of rules; ``--check`` fails when it is out of date."""

import sys
from pathlib import Path

from memfs.admission.catalogue import all_rules
from memfs.admission.rules import Family

PAGE = Path(__file__).with_name("admission.md")

HEAD = """# Admission

Written by `python docs/reference/write_admission.py` from the rules themselves. Why the gate is as it is, what it
can do and what it cannot: [About admission](../explanation/admission.md).

The gate runs before the first byte is written (`remember`, `edit`, `supersede`, `propose`, an agent's tools), again
on every field, file name and commit message of a pull request (`check`, `review`), and again whenever a memory is
read, since files can be edited by hand.

| verdict | what it means |
| --- | --- |
| **reject** | Nothing is written, and no message holds the value. A file edited by hand shows its id and the rule. |
| **hold** | Kept for its author alone, outside the repository: `memfs drafts`. Never recalled. |
| **warn** | Written; the sentence is printed. |

A finding names rule, field, line and column. `memfs admission test FILE…` prints what the gate would say about any
text ([schema](../../schemas/admission-test.json)), `memfs admission rules` prints the table below.

**Letting a rule pass.** `--allow RULE --reason TEXT` with `remember`, `edit` and `drafts submit`. The rule stands in
the memory's `allow` field and in the commit message with the reason. The field counts only while a person's
approval covers the file's very bytes: text alone cannot let itself through. Rules marked *fixed* cannot be allowed.

**Who wrote it.** `permissive-about-a-control`, `unclear-about-a-control` and `weakens-a-check` say nothing about an
owner's text, hold an agent's, and reject imported and derived text. An observation with evidence is not held.

**What is looked at.** Every text is judged as it stands; with invisible characters removed and look-alikes folded;
without emphasis marks; with entities, percent signs and escapes decoded; runs of base64 and hex decoded once; and,
beside a word for a credential, reversed and with broken pieces joined. All short fields are judged together as well.

**Extras.** `pip install 'memfs-git[pii]'` adds number rules that python-stdnum checks and asks phonenumberslite
whether a number is possible; `memfs-git[scan]` lets `memfs check` take a second look with the Kingfisher scanner.
"""

TITLES = {
    Family.FORM: ("Form", "What every memory must have."),
    Family.CODEPOINTS: ("Code points", "What nobody can see, or what reorders text."),
    Family.SECRETS: ("Credentials", "Forms that vendors document are fixed; a placeholder passes."),
    Family.PERSONAL: ("Personal data", "The author's own address may stand in `author` and `evidence`."),
    Family.AUTHORITY: ("Authority and instructions", "Negated sentences and reports about such text pass."),
    Family.TRANSIENCE: ("Passing states", "These only warn."),
}


def page() -> str:
    """Return the whole page."""
    parts = [HEAD]
    for family, (title, about) in TITLES.items():
        parts.append(f"## {title}\n\n{about}\n\n| rule | verdict | what it finds: the text … |\n| --- | --- | --- |")
        for rule in all_rules().values():
            if rule.family is family:
                fixed = ", fixed" if rule.fixed else ""
                parts.append(f"| `{rule.name}` | {rule.severity.value}{fixed} | {rule.sentence} |")
        parts.append("")
    return "\n".join(parts).rstrip() + "\n"


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page():
            sys.exit("docs/reference/admission.md is out of date: run python docs/reference/write_admission.py")
    else:
        PAGE.write_text(page(), encoding="utf-8")
