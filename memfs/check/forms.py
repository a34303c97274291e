"""The written forms of a report, but SARIF: for people, programs, forges and test reports. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from memfs.check.results import Level, Report, Result, fingerprint
from memfs.check.rules import HELP
from memfs.check.words import counted
from memfs.model.codepoints import escape_hidden, one_line
from memfs.model.values import asdict

# -- people ------------------------------------------------------------------------------------------

_COLORS = {Level.ERROR: "31", Level.WARNING: "33", Level.NOTE: "36"}


def format_text(report: Report, *, color: bool = False, quiet: bool = False) -> str:
    """Return the form for people: ``path:line:col: level rule  sentence``, the fix below it."""

    def paint(code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if color else text

    lines: list[str] = []
    for result in report.results:
        place = paint("1", format_place(result))
        lines.append(f"{place} {paint(_COLORS[result.level], result.rule)} {result.message}")
        if result.fix:
            lines.append(paint("2", f"    {result.fix}"))
    if not quiet:
        if lines:
            lines.append("")
        lines.append(format_summary(report))
        lines.extend(f"note: {notice}" for notice in report.notices)
    return "\n".join(lines)


def format_place(result: Result) -> str:
    """Return ``path:line:column:`` as far as it is known, safe for a terminal."""
    path = one_line(result.path) or "repository"
    if result.line is None:
        return f"{path}:"
    return f"{path}:{result.line}:{result.column or 1}:"


def format_summary(report: Report) -> str:
    """Return one line: what was looked at and what came of it."""
    parts = [
        counted(report.count(level), word)
        for level, word in ((Level.ERROR, "error"), (Level.WARNING, "warning"), (Level.NOTE, "note"))
        if report.count(level)
    ]
    fixable = sum(result.fixable for result in report.results)
    looked = f"{counted(report.files, 'memory', 'memories')} checked"
    text = f"{looked}: {', '.join(parts)}" if parts else f"{looked}, nothing to report"
    if report.fixed:
        text += f"; {counted(len(report.fixed), 'file')} fixed"
    if fixable:
        text += f"; `memfs check --fix` can fix {fixable}"
    return text


# -- programs ----------------------------------------------------------------------------------------


def report_payload(report: Report) -> dict[str, Any]:
    """Return the payload of schemas/check.json, without its ``schema`` field."""
    return {
        "passed": report.passed(),
        "fail_on": report.fail_on.value,
        "files": report.files,
        "cached": report.cached,
        "counts": {level.value: report.count(level) for level in Level},
        "withheld": len(report.withheld),
        "results": [_result_payload(result) for result in report.results],
        "fixed": list(report.fixed),
        "notices": list(report.notices),
    }


def _result_payload(result: Result) -> dict[str, Any]:
    values = asdict(result)
    del values["others"]
    return {**values, "ids": list(result.ids), "help": f"{HELP}#{result.rule}"}


_GITHUB_LEVEL = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "notice"}


def format_github(report: Report) -> str:
    """Return the report as GitHub workflow commands, one annotation a line."""
    lines = []
    for result in report.results:
        properties = {
            "file": escape_hidden(result.path),
            "line": result.line,
            "col": result.column,
            "title": f"memfs {result.rule}",
        }
        written = ",".join(f"{key}={_github_property(str(value))}" for key, value in properties.items() if value)
        lines.append(f"::{_GITHUB_LEVEL[result.level]} {written}::{_github_data(result.text)}")
    lines.append(format_summary(report))
    return "\n".join(lines)


def _github_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _github_property(text: str) -> str:
    return _github_data(text).replace(":", "%3A").replace(",", "%2C")


def format_junit(report: Report, *, checked: Sequence[str] = ()) -> str:
    """Return the report as JUnit XML: one test case for each file that was ``checked`` or named,
    failed by what fails the run; the others go to its output. A run without any file has one passed test."""
    by_path: dict[str, list[Result]] = {path: [] for path in checked or [""]}
    for result in report.results:
        by_path.setdefault(result.path, []).append(result)
    cases: list[str] = []
    failures = 0
    for path, results in by_path.items():
        errors = [result for result in results if report.fails(result)]
        others = [result for result in results if not report.fails(result)]
        failures += bool(errors)
        inner = ""
        if errors:
            first = errors[0]
            text = "\n".join(_junit_line(result) for result in errors)
            inner += (
                f"<failure type={_xml_attribute(first.rule)} message={_xml_attribute(first.message)}>"
                f"{_xml_text(text)}</failure>"
            )
        if others:
            inner += f"<system-out>{_xml_text(chr(10).join(_junit_line(result) for result in others))}</system-out>"
        name = _xml_attribute(escape_hidden(path, single_line=True) or "repository")
        cases.append(f'<testcase classname="memfs.check" name={name}>{inner}</testcase>')
    body = "\n".join(cases)
    counts = f'tests="{len(cases)}" failures="{failures}" errors="0"'
    suite = f'<testsuite name="memfs check" {counts}>\n{body}\n</testsuite>'
    return f'<?xml version="1.0" encoding="utf-8"?>\n<testsuites name="memfs" {counts}>\n{suite}\n</testsuites>'


def _junit_line(result: Result) -> str:
    return f"{format_place(result)} {result.level.value} {result.rule} {result.text}"


def _xml_text(text: str) -> str:
    # XML 1.0 has no way to write most control characters; escape_hidden has already made the ones
    # of repository text visible, so anything left here is replaced rather than refused.
    kept = "".join(char if char in "\t\n" or ord(char) >= 0x20 else "\ufffd" for char in text)
    return kept.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _xml_attribute(text: str) -> str:
    return '"' + _xml_text(text).replace('"', "&quot;").replace("\n", "&#10;").replace("\t", "&#9;") + '"'


# -- GitLab and reviewdog ----------------------------------------------------------------------------

_NOWHERE = ".memfs/config.yaml"  # where a result without a place is put: these programs drop what has none
_GITLAB_LEVEL = {Level.ERROR: "major", Level.WARNING: "minor", Level.NOTE: "info"}


def _path_of(result: Result) -> str:
    """Return the path as other programs take it: in one line, and without undecodable bytes."""
    return escape_hidden(result.path, single_line=True)


def format_gitlab(report: Report) -> str:
    """Return the report as GitLab's code quality report: a list of issues with a severity and a line."""
    issues = [
        {
            "type": "issue",
            "check_name": result.rule,
            "description": result.text,
            "categories": ["Style" if result.level is Level.NOTE else "Bug Risk"],
            "severity": _GITLAB_LEVEL[result.level],
            "fingerprint": fingerprint(result),
            "location": {"path": _path_of(result) or _NOWHERE, "lines": {"begin": result.line or 1}},
        }
        for result in report.results
    ]
    return json.dumps(issues, ensure_ascii=True, indent=1)


_RDJSON_LEVEL = {Level.ERROR: "ERROR", Level.WARNING: "WARNING", Level.NOTE: "INFO"}


def format_rdjson(report: Report) -> str:
    """Return the report in reviewdog's diagnostic format (rdjson)."""
    diagnostics = []
    for result in report.results:
        location: dict[str, Any] = {"path": _path_of(result) or _NOWHERE}
        if result.line is not None:
            location["range"] = {"start": {"line": result.line, "column": result.column or 1}}
        diagnostics.append(
            {
                "message": result.text,
                "location": location,
                "severity": _RDJSON_LEVEL[result.level],
                "code": {"value": result.rule, "url": f"{HELP}#{result.rule}"},
            }
        )
    source = {"name": "memfs", "url": HELP}
    return json.dumps({"source": source, "diagnostics": diagnostics}, ensure_ascii=True, indent=1)
