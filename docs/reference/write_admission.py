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
| **reject** | Nothing is written, and no message contains the value. |
| **hold** | Kept for its author alone, outside the repository: `memfs drafts`. Never recalled. |
| **warn** | A note: written; the sentence is printed, and `check` and `review` show it. |

When a file is read, secrets of any kind, hidden code points and text that breaks a frame withhold it: its id and the
rule are shown. A few zero-width characters of pasted text do not. Nothing else withholds a memory.

A finding names rule, field, line and column. `memfs admission test FILE…` prints what the gate would say about any
text ([schema](../../schemas/admission-test.json)) and ends with 0 (admitted), 1 (held) or 5 (rejected).
`memfs admission rules` prints the tables below, `memfs admission explain RULE` says what one rule finds and how to
let it pass.

**Letting a rule pass.** `--allow RULE --reason TEXT` with `remember`, `edit` and `drafts submit`. The rule is written
into the memory's `allow` field and in the commit message with the reason. The field counts only while a person's
approval covers the file's very bytes: text alone cannot let itself through. Rules marked *fixed* cannot be allowed.
`memfs admission allowed` lists what was let pass, with the reasons: the false alarms of a repository in one place,
which `python benchmarks/real_text.py --allowed REPOSITORY` counts by rule.

**Adding a rule.** The tables are text: `vendors.rules`, `secrets.rules`, `personal.rules`, `numbers.rules`,
`orders.rules` and `passing.rules` in `memfs/admission/data/`. A rule is a few lines:

```
rule vendor-acme-key
finds contains an Acme key
words acme_
find acme_[A-Za-z0-9]{32}
```

`words` are tried first, so a rule costs nothing in a text without them. The keys are explained in
`memfs/admission/tables.py`.

**Who wrote it.** `reads-like-an-order` keeps back the text of agents, and imported and derived text. In an owner's text
and in an observation with evidence it is a note. All other rules mean the same for everybody.

**What is looked at.** Every text is judged as it stands; with invisible characters removed and look-alikes folded;
without emphasis marks; with entities, percent signs and escapes decoded; runs of base64 and hex decoded once; and,
beside a word for a credential, reversed and with broken pieces joined. All short fields are judged together as well.

**Extras.** `pip install 'memfs-git[pii]'` adds number rules that python-stdnum checks and asks phonenumberslite
whether a number is possible; `memfs-git[scan]` lets `memfs check` take a second look with the Kingfisher scanner.
"""

TITLES = {
    Family.FORM: ("Form", "What every memory must have."),
    Family.CODEPOINTS: ("Code points", "What nobody can see, or what reorders text."),
    Family.SECRETS: ("Credentials", "Documented forms are fixed; a placeholder passes. Any of these withholds a file."),
    Family.PERSONAL: ("Personal data", "The author's own address is allowed in `author` and `evidence`."),
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
