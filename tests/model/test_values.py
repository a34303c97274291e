"""The value classes behave like the standard library's as far as they are offered."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from memfs.model import values


class Maker(NamedTuple):
    dataclass: Any
    field: Any
    replace: Callable[..., Any]


BOTH = pytest.mark.parametrize(
    "make",
    [
        Maker(values.dataclass, values.field, values.replace),
        Maker(dataclasses.dataclass, dataclasses.field, dataclasses.replace),
    ],
    ids=["ours", "standard library"],
)


def point(make: Maker, **options: bool) -> Any:
    @make.dataclass(**{"frozen": True, "slots": True, "kw_only": True, **options})
    class Point:
        """A point."""

        x: int
        y: int = 2
        names: list[str] = make.field(default_factory=list)

        @property
        def total(self) -> int:
            return self.x + self.y

    return Point


@BOTH
def test_fields_have_their_values_and_defaults(make: Maker) -> None:
    one = point(make)(x=1)
    assert (one.x, one.y, one.names, one.total) == (1, 2, [], 3)
    assert point(make)(x=1).names is not one.names


@BOTH
def test_a_frozen_value_refuses_assignment_and_unknown_names(make: Maker) -> None:
    one = point(make)(x=1)
    with pytest.raises(AttributeError):
        one.x = 5
    with pytest.raises((AttributeError, TypeError)):
        one.other = 5
    with pytest.raises(AttributeError):
        del one.x


@BOTH
def test_wrong_arguments_are_refused(make: Maker) -> None:
    kind = point(make)
    for arguments in ({}, {"x": 1, "z": 2}):
        with pytest.raises(TypeError):
            kind(**arguments)
    with pytest.raises(TypeError):
        kind(1)
    assert point(make, kw_only=False)(1, 3).y == 3


@BOTH
def test_equal_values_are_equal_and_hash_alike(make: Maker) -> None:
    @make.dataclass(frozen=True, slots=True)
    class Pair:
        """A pair."""

        left: int
        right: tuple[int, ...] = ()

    assert Pair(1, (2,)) == Pair(1, (2,))
    assert hash(Pair(1, (2,))) == hash(Pair(1, (2,)))
    assert Pair(1) != Pair(2)
    assert Pair(1) != (1, ())
    assert repr(Pair(1)).endswith("Pair(left=1, right=())")


@BOTH
def test_a_changed_copy_leaves_the_original(make: Maker) -> None:
    one = point(make)(x=1, y=5)
    two = make.replace(one, x=9)
    assert (one.x, two.x, two.y) == (1, 9, 5)


@BOTH
def test_a_mutable_value_can_be_assigned_and_has_no_hash(make: Maker) -> None:
    one = point(make, frozen=False)(x=1)
    one.x = 7
    assert one.x == 7
    with pytest.raises(TypeError):
        hash(one)


@BOTH
def test_fields_are_inherited_in_order(make: Maker) -> None:
    @make.dataclass(frozen=True, slots=True)
    class Base:
        """A base."""

        first: int

    @make.dataclass(frozen=True, slots=True)
    class Derived(Base):
        """A derived class."""

        second: int = 2

    assert (Derived(1).first, Derived(1).second) == (1, 2)
    assert Derived(1).__match_args__ == ("first", "second")


@BOTH
def test_super_and_post_init_work_in_a_slotted_class(make: Maker) -> None:
    seen: list[int] = []

    @make.dataclass(frozen=True)
    class Checked:
        """Checks itself."""

        x: int

        def __post_init__(self) -> None:
            seen.append(self.x)

    Checked(4)
    assert seen == [4]


@values.dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """At module level, so that it can be pickled."""

    x: int
    inside: tuple[Any, ...] = ()


def test_a_value_survives_copy_and_pickle() -> None:
    one = Kept(x=1, inside=(Kept(x=2),))
    assert pickle.loads(pickle.dumps(one)) == one
    assert copy.deepcopy(one) == one
    assert values.asdict(one) == {"x": 1, "inside": ({"x": 2, "inside": ()},)}
