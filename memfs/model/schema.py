"""The public JSON Schemas, checked (DESIGN 3). jsonschema costs 66 ms to import: only where it is used."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from memfs.model.codepoints import escape_hidden
from memfs.model.memory import Document, FrontValue, Problem
from memfs.model.values import replace


def check_schema(instance: object, schema: Mapping[str, Any]) -> list[Problem]:
    """Return all the ways in which ``instance`` does not fit ``schema`` (draft 2020-12), in a stable order.

    A message names the place and the rule, never the value that broke it.
    """
    from jsonschema import Draft202012Validator

    validator = Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
    problems = {
        Problem(
            rule=f"schema-{error.validator}",
            message=_message(str(error.validator), error.validator_value, error.instance),
            field=escape_hidden("/".join(str(part) for part in error.absolute_path), single_line=True) or None,
        )
        for error in validator.iter_errors(instance)
    }
    return sorted(problems, key=lambda problem: (problem.field or "", problem.rule, problem.message))


def check_front(document: Document, schema: Mapping[str, Any]) -> list[Problem]:
    """Return how the front matter of ``document`` does not fit ``schema``, each with its line and column."""
    return [
        replace(problem, line=document.lines.get((problem.field or "").split("/")[0], 1), column=1)
        for problem in check_schema(front_instance(document.front), schema)
    ]


def front_instance(front: Mapping[str, FrontValue]) -> dict[str, object]:
    """Return ``front`` as JSON knows it, which is what ``memory.json`` describes."""
    return {key: value if isinstance(value, str) else list(value) for key, value in front.items()}


def _message(rule: str, wanted: object, instance: object) -> str:
    if rule == "required" and isinstance(wanted, list) and isinstance(instance, dict):
        return f"needs {', '.join(str(name) for name in wanted if name not in instance)}"
    if rule in {"type", "enum", "const", "format", "pattern", "minItems", "minLength", "maxLength", "maxItems"}:
        return f"does not fit {rule} {json.dumps(wanted)}"
    return f"does not fit the schema's {rule}"
