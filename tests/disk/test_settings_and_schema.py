"""Settings are read by hand, for hooks are cold, and checked by the published schema: both give one answer."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.disk.settings import find_misfits, parse_repository_settings

SCOPES = st.sampled_from(["team", "team/a", "team/*", "restricted/board", "personal", "everybody", "team/", "Team", ""])
COUNTS = st.sampled_from(["1", "100", "0", "-1", "x", "007", "1.5"])
TEXTS = st.sampled_from(["alice@example.com", "x" * 300, " ", "a b"])
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "version": st.sampled_from(["1", "2", "one"]),
        "name": TEXTS,
        "scopes": st.lists(SCOPES, max_size=3),
        "share": st.lists(SCOPES, max_size=3),
        "readers": st.dictionaries(SCOPES, st.lists(TEXTS, max_size=2), max_size=2),
        "agents": st.fixed_dictionaries({}, optional={"write": st.sampled_from(["branch", "proposal", "main"])}),
        "default_kind": st.sampled_from(["decision", "rule"]),
        "default_scope": SCOPES.filter(bool),
        "default_review": st.sampled_from(["6m", "on 2027-01-01", " "]),
        "commit": st.fixed_dictionaries(
            {},
            optional={
                "prefix": st.sampled_from(["docs: ", " ", "x" * 41]),
                "trailer": st.sampled_from(["Signed-off-by: memfs", "Memfs-Approval: x", "no trailer", "Key: "]),
            },
        ),
        "limits": st.fixed_dictionaries({}, optional={"results": COUNTS, "memory_bytes": COUNTS}),
    },
)


@given(SETTINGS)
def test_the_reader_takes_the_settings_that_the_schema_takes_and_no_others(settings: dict[str, object]) -> None:
    raw = json.dumps(settings).encode()
    assert bool(parse_repository_settings(raw).problems) == bool(find_misfits(raw, "config")), settings


def test_a_misfit_is_told_with_its_line() -> None:
    (misfit,) = find_misfits(b"version: 1\nlimits:\n  results: none\n", "config")
    assert misfit.startswith("line 3: limits/results: ")


@pytest.mark.parametrize("raw", [b"", b"# nothing\n", b"scopes:\n", b"limits:\nreaders:\n"])
def test_a_setting_without_a_value_is_none(raw: bytes) -> None:
    assert parse_repository_settings(raw).problems == ()
    assert find_misfits(raw, "config") == []
