"""The forms of a check's report, with the text of an attacker in every part that can hold some."""

from __future__ import annotations

import json
import os
from unicodedata import category
from urllib.parse import quote
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.check.forms import format_github, format_gitlab, format_junit, format_rdjson, format_text, report_payload
from memfs.check.results import Level, Report, Result, sort_results
from memfs.check.rules import RULES
from memfs.check.sarif import format_sarif
from memfs.model.codepoints import plain

HOSTILE = 'x\r\n::add-mask::y %0A,:"<&>]]>\x1b[2K\u202e\x00'


@pytest.fixture
def hostile_report() -> Report:
    """Return a report with a result of every rule, and an attacker's text in each."""
    return _report(*(_error(rule=name, message=plain(f"{name} {HOSTILE}"), path=f"memories/{name}") for name in RULES))


def _report(*results: Result, **more: object) -> Report:
    return Report(results=sort_results(results), files=3, **more)  # type: ignore[arg-type]


def _error(**changes: object) -> Result:
    values: dict[str, object] = {
        "rule": "missing-field",
        "level": Level.ERROR,
        "message": "evidence is missing",
        "path": "memories/team/a.md",
        "line": 4,
        "column": 2,
        "fix": "Add what the statement rests on.",
    }
    return Result(**{**values, **changes})  # type: ignore[arg-type]


def test_people_read_place_rule_sentence_and_what_to_do() -> None:
    text = format_text(_report(_error(), _error(path="", line=None, level=Level.NOTE, rule="not-pinned", fix=None)))
    assert text.splitlines() == [
        "repository: not-pinned evidence is missing",
        "memories/team/a.md:4:2: missing-field evidence is missing",
        "    Add what the statement rests on.",
        "",
        "3 memories checked: 1 error, 1 note",
    ]


def test_a_clean_run_says_so_in_one_line() -> None:
    assert format_text(_report()) == "3 memories checked, nothing to report"
    assert format_text(_report(), quiet=True) == ""


def test_only_errors_fail_and_strict_adds_warnings() -> None:
    warned = _report(_error(level=Level.WARNING))
    assert warned.passed()
    assert not warned.passed(strict=True)
    assert not _report(_error()).passed()


def test_text_of_a_repository_becomes_one_visible_line() -> None:
    shown = plain(HOSTILE)
    assert "\n" not in shown
    assert "\x1b" not in shown
    assert "\\u{202E}" in shown
    assert len(plain("a" * 5_000)) == 120


def test_no_terminal_form_lets_an_escape_sequence_through() -> None:
    text = format_text(_report(_error(path=f"memories/{HOSTILE}.md", message=plain(HOSTILE))), color=False)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert len(text.splitlines()) == 4


def test_a_workflow_command_cannot_be_forged_from_a_path_or_a_message() -> None:
    text = format_github(_report(_error(path="memories/a,b:c\n::add-mask::z.md", message="one\n::add-mask::two\r%25")))
    commands = [line for line in text.splitlines() if line.startswith("::")]
    assert len(commands) == 1
    assert commands[0].startswith("::error file=memories/a%2Cb%3Ac%0A%3A%3Aadd-mask%3A%3Az.md,line=4,col=2,title=")
    assert commands[0].endswith("::one%0A::add-mask::two%0D%2525 Add what the statement rests on.")


def test_sarif_holds_rules_places_and_stable_fingerprints() -> None:
    report = _report(_error(), _error(path="", line=None, column=None))
    document = json.loads(format_sarif(report, version="1"))
    run = document["runs"][0]
    assert document["version"] == "2.1.0"
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["missing-field"]
    whole, placed = run["results"]
    assert placed["locations"][0]["physicalLocation"]["region"] == {"startLine": 4, "startColumn": 2}
    assert whole["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == ".memfs/config.yaml"
    again = json.loads(format_sarif(report, version="2"))
    assert again["runs"][0]["results"][0]["partialFingerprints"] == whole["partialFingerprints"]


def test_sarif_is_what_the_standard_says(hostile_report: Report) -> None:
    model = pytest.importorskip("pydantic_sarif.model", reason="the models of the official schema are not installed")
    read = model.StaticAnalysisResultsFormatSarifVersion210JsonSchema.model_validate_json(
        format_sarif(hostile_report, version="1")
    )
    (run,) = read.runs
    assert run.automationDetails.id == "memfs/"
    assert {str(rule.helpUri).rpartition("#")[2] for rule in run.tool.driver.rules} == set(RULES)


def test_gitlab_shows_each_result_at_its_line(hostile_report: Report) -> None:
    issues = json.loads(format_gitlab(hostile_report))
    assert len(issues) == len(RULES)
    for issue in issues:
        assert set(issue) >= {"description", "check_name", "fingerprint", "severity", "location"}
        assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert issue["location"]["lines"]["begin"] >= 1
        assert issue["location"]["path"]
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)


def test_reviewdog_gets_a_code_with_its_page(hostile_report: Report) -> None:
    document = json.loads(format_rdjson(hostile_report))
    assert document["source"]["name"] == "memfs"
    for one in document["diagnostics"]:
        assert one["severity"] in ("ERROR", "WARNING", "INFO")
        assert one["code"]["url"].endswith(f"#{one['code']['value']}")


def test_a_level_that_fails_the_run_fails_its_test_case() -> None:
    report = _report(_error(level=Level.WARNING), fail_on=Level.WARNING)
    assert not report.passed()
    assert len(ElementTree.fromstring(format_junit(report)).findall(".//failure")) == 1


def test_junit_stays_well_formed_whatever_a_message_holds() -> None:
    report = _report(_error(message=HOSTILE, path=f"memories/{HOSTILE}"), _error(level=Level.WARNING, path="b"))
    root = ElementTree.fromstring(format_junit(report, checked=["memories/team/ok.md"]))
    cases = root.findall(".//testcase")
    assert {case.get("name") for case in cases} >= {"memories/team/ok.md", "b"}
    assert root.get("failures") == "1"
    assert len(root.findall(".//failure")) == 1
    assert len(root.findall(".//system-out")) == 1


def test_the_json_form_keeps_its_schema() -> None:
    import jsonschema

    from memfs.disk.shipped import read_schema

    payload = {"schema": "memfs/check/1", **report_payload(_report(_error(), _error(path="", line=None, column=None)))}
    jsonschema.Draft202012Validator(read_schema("check")).validate(payload)
    assert payload["passed"] is False


@pytest.mark.parametrize("form", [format_github, format_gitlab, format_junit, format_rdjson, format_text])
def test_an_empty_report_is_still_a_document(form) -> None:  # type: ignore[no-untyped-def]
    assert form(_report())


FILE_NAMES = st.one_of(st.binary(max_size=40), st.text(max_size=40).map(lambda text: text.encode("utf-8", "ignore")))


@given(FILE_NAMES)
def test_every_form_can_name_every_file(raw: bytes) -> None:
    name = os.fsdecode(raw)
    report = _report(_error(path=f"memories/team/{name}", message=plain(name)), _error(path=name, rule="bad-id"))
    forms = {
        "text": format_text(report),
        "github": format_github(report),
        "junit": format_junit(report),
        "json": json.dumps(report_payload(report)),
        "gitlab": format_gitlab(report),
        "rdjson": format_rdjson(report),
        "sarif": format_sarif(report, version="1"),
    }
    for form, text in forms.items():
        text.encode("utf-8")
        assert not [char for char in text if category(char) in ("Cc", "Cs") and char not in "\n\t"], form
    ElementTree.fromstring(forms["junit"].encode())
    for form in ("gitlab", "rdjson", "sarif"):
        assert not any(0xD800 <= ord(char) < 0xE000 for char in str(json.loads(forms[form]))), form
    places = [r["locations"][0]["physicalLocation"] for r in json.loads(forms["sarif"])["runs"][0]["results"]]
    uris = {place["artifactLocation"]["uri"] for place in places}
    assert quote(os.fsencode(f"memories/team/{name}")) in uris
