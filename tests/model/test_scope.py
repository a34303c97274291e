"""What a grant covers: one answer in two forms."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memfs.model.scope import granted_patterns, is_granted

NAMES = st.sampled_from(["a", "b", "ab", "a-b"])
SCOPES = st.one_of(
    st.sampled_from(["personal", "team"]),
    st.builds("team/{}".format, NAMES),
    st.builds("restricted/{}".format, NAMES),
)


def covers(pattern: str, scope: str) -> bool:
    return scope.startswith(pattern.removesuffix("*")) if pattern.endswith("/*") else scope == pattern


@given(st.lists(st.one_of(SCOPES, st.just("restricted")), max_size=4), SCOPES)
def test_the_patterns_of_grants_cover_exactly_what_the_grants_cover(grants: list[str], scope: str) -> None:
    assert any(covers(pattern, scope) for pattern in granted_patterns(grants)) == is_granted(grants, scope)
