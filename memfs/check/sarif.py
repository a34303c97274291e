"""The report as SARIF 2.1.0 (OASIS), for code scanning. Pure."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from memfs.check.results import Report, Result, fingerprint
from memfs.check.rules import HELP, RULES, Rule

SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

_UNDECODED = "surrogateescape"  # a name that is not UTF-8 keeps its bytes


def format_sarif(report: Report, *, version: str, category: str = "memfs") -> str:
    """Return the report as SARIF 2.1.0 (OASIS), for code scanning.

    Results without a path point at the repository's settings file: code scanning drops results
    that have no place. ``category`` keeps the runs of different checks of one commit apart.
    """
    names = sorted({result.rule for result in report.results})
    index = {name: place for place, name in enumerate(names)}
    run = {
        "tool": {
            "driver": {
                "name": "memfs",
                "version": version,
                "semanticVersion": version,
                "informationUri": HELP,
                "rules": [_rule(RULES[name]) for name in names],
            }
        },
        "automationDetails": {"id": f"{category}/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": True}],
        "originalUriBaseIds": {"ROOT": {"description": {"text": "The top folder of the repository."}}},
        "results": [_result(result, index[result.rule]) for result in report.results],
    }
    return json.dumps({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, ensure_ascii=True, indent=1)


def _rule(rule: Rule) -> dict[str, Any]:
    fix = rule.fix or rule.sentence
    return {
        "id": rule.name,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.sentence},
        "fullDescription": {"text": rule.sentence},
        "help": {"text": fix, "markdown": f"{fix} See [{rule.name}]({HELP}#{rule.name})."},
        "helpUri": f"{HELP}#{rule.name}",
        "defaultConfiguration": {"level": rule.level.value},
        "properties": {"tags": ["memories", rule.group]},
    }


def _result(result: Result, index: int) -> dict[str, Any]:
    location: dict[str, Any] = {
        "artifactLocation": {
            "uri": quote(result.path.encode("utf-8", _UNDECODED) or ".memfs/config.yaml"),
            "uriBaseId": "ROOT",
        },
        "region": {"startLine": result.line or 1},
    }
    if result.line is not None and result.column is not None:
        location["region"]["startColumn"] = result.column
    written: dict[str, Any] = {
        "ruleId": result.rule,
        "ruleIndex": index,
        "level": result.level.value,
        "message": {"text": result.text},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {"memfsResult/v1": fingerprint(result)},
    }
    if result.ids:
        written["properties"] = {"memories": list(result.ids)}
    return written
