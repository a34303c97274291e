"""The report as SARIF 2.1.0 (OASIS), for code scanning. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from memfs.check.results import Report, Result
from memfs.check.rules import Rule

SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def format_sarif(report: Report, *, rules: Mapping[str, Rule], version: str) -> str:
    """Return the report as SARIF 2.1.0 (OASIS), for code scanning.

    Results without a path point at the repository's settings file: code scanning drops results
    that have no place.
    """
    names = sorted({result.rule for result in report.results})
    index = {name: place for place, name in enumerate(names)}
    run = {
        "tool": {
            "driver": {
                "name": "memfs",
                "version": version,
                "rules": [_sarif_rule(name, rules.get(name)) for name in names],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"ROOT": {"description": {"text": "The top folder of the repository."}}},
        "results": [_sarif_result(result, index[result.rule]) for result in report.results],
    }
    return json.dumps({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, ensure_ascii=True, indent=1)


def _sarif_rule(name: str, rule: Rule | None) -> dict[str, Any]:
    described: dict[str, Any] = {"id": name}
    if rule is not None:
        described["shortDescription"] = {"text": rule.sentence}
        described["help"] = {"text": rule.fix or rule.sentence}
        described["defaultConfiguration"] = {"level": rule.level.value}
    return described


def _sarif_result(result: Result, index: int) -> dict[str, Any]:
    location: dict[str, Any] = {
        "artifactLocation": {"uri": quote(result.path or ".memfs/config.yaml"), "uriBaseId": "ROOT"},
        "region": {"startLine": result.line or 1},
    }
    if result.line is not None and result.column is not None:
        location["region"]["startColumn"] = result.column
    text = f"{result.message} {result.fix}" if result.fix else result.message
    print_of = sha256("\0".join((result.rule, result.path, result.message)).encode()).hexdigest()
    return {
        "ruleId": result.rule,
        "ruleIndex": index,
        "level": result.level.value,
        "message": {"text": text},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {"memfsResult/v1": print_of[:32]},
    }
