"""Value classes: ``dataclass``, ``field``, ``replace`` and ``asdict`` as far as memfs uses them. Pure.

The same declarations as the standard library's, built without generating and compiling source: there
each class costs about 0.6 ms at every start and the module itself imports ``inspect`` (10 ms), which
together was a quarter of a cold recall. What is not offered (``order``, ``InitVar``, defaults by
``init=False``) is not needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, dataclass_transform, overload

_T = TypeVar("_T")
_MISSING: Any = object()


class _Field:
    __slots__ = ("default", "default_factory")

    def __init__(self, default: object, default_factory: Callable[[], object]) -> None:
        self.default = default
        self.default_factory = default_factory


@overload
def field(*, default: _T) -> _T: ...
@overload
def field(*, default_factory: Callable[[], _T]) -> _T: ...
def field(*, default: Any = _MISSING, default_factory: Any = _MISSING) -> Any:
    """Return the declaration of a field that has a default, or one made anew for each value."""
    return _Field(default, default_factory)


@dataclass_transform(field_specifiers=(field,))
def dataclass(*, frozen: bool = False, slots: bool = False, kw_only: bool = False) -> Callable[[type[_T]], type[_T]]:
    """Return a decorator that turns annotated names into fields: constructor, ``==``, ``repr``, and
    for a frozen class ``hash`` and refusal of assignment."""

    def decorate(cls: type[_T]) -> type[_T]:
        return _build(cls, frozen=frozen, slots=slots, kw_only=kw_only)

    return decorate


def replace(value: _T, **changes: object) -> _T:
    """Return a copy of ``value`` with some fields changed."""
    names: tuple[str, ...] = type(value).__match_args__  # type: ignore[attr-defined]
    return type(value)(**{name: getattr(value, name) for name in names} | changes)


def asdict(value: object) -> dict[str, Any]:
    """Return the fields of ``value`` as a mapping, values inside it too."""
    names: tuple[str, ...] = type(value).__match_args__  # type: ignore[attr-defined]
    return {name: _as_plain(getattr(value, name)) for name in names}


def _as_plain(value: Any) -> Any:
    if hasattr(type(value), "__value_defaults__"):
        return asdict(value)
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return type(value)(map(_as_plain, value))
    if isinstance(value, dict):
        return {key: _as_plain(item) for key, item in value.items()}
    return value


def _build(cls: type[_T], *, frozen: bool, slots: bool, kw_only: bool) -> type[_T]:
    annotations = vars(cls).get("__annotations__", {})  # inspect.get_annotations would import inspect
    own = tuple(name for name, kind in annotations.items() if "ClassVar" not in str(kind))
    base = next((base for base in cls.__mro__[1:] if hasattr(base, "__value_defaults__")), None)
    inherited: tuple[str, ...] = getattr(base, "__match_args__", ())
    names = tuple(dict.fromkeys(inherited + own))
    defaults: dict[str, _Field] = dict(getattr(base, "__value_defaults__", {}))
    body = {name: item for name, item in cls.__dict__.items() if name not in ("__dict__", "__weakref__")}
    for name in own:
        if name in body:
            given = body[name] if slots else body.get(name)
            declared = given if isinstance(given, _Field) else _Field(given, _MISSING)
            defaults[name] = declared
            if slots or declared.default is _MISSING:
                del body[name]
            else:
                body[name] = declared.default
    body["__match_args__"] = names
    body["__value_defaults__"] = defaults
    if slots:
        body["__slots__"] = tuple(name for name in own if name not in inherited)
    put = object.__setattr__ if frozen else setattr
    has_post_init = "__post_init__" in body
    init = _make_init(cls.__qualname__, names, defaults, put, kw_only=kw_only, has_post_init=has_post_init)
    body.setdefault("__init__", init)
    body.setdefault("__repr__", _make_repr(names))
    if "__eq__" not in body:
        body["__eq__"] = _make_eq(names)
        body.setdefault("__hash__", _make_hash(names) if frozen else None)
    if frozen:
        body.setdefault("__setattr__", _refuse)
        body.setdefault("__delattr__", _refuse)
        if slots:
            body.setdefault("__getstate__", _make_getstate(names))
            body.setdefault("__setstate__", _make_setstate(names))
    make: Any = type(cls)
    built = make(cls.__name__, cls.__bases__, body)
    built.__qualname__ = cls.__qualname__
    _rebind_class_cells(cls, built)
    result: type[_T] = built
    return result


def _rebind_class_cells(old: type, new: type) -> None:
    # ``super()`` and ``__class__`` inside the methods mean the class that they were written in.
    for item in new.__dict__.values():
        function = getattr(item, "fget", getattr(item, "__func__", item))
        for cell in getattr(function, "__closure__", None) or ():
            if cell.cell_contents is old:
                cell.cell_contents = new
                return


def _make_init(
    title: str,
    names: tuple[str, ...],
    defaults: dict[str, _Field],
    put: Callable[[object, str, object], None],
    *,
    kw_only: bool,
    has_post_init: bool,
) -> Callable[..., None]:
    known = frozenset(names)

    def __init__(self: Any, *values: object, **given: object) -> None:
        if values:
            if kw_only or len(values) > len(names):
                raise TypeError(f"{title}() takes {0 if kw_only else len(names)} positional arguments")
            given = dict(zip(names, values, strict=False)) | given
        if not known.issuperset(given):
            raise TypeError(f"{title}() got unexpected fields: {', '.join(sorted(set(given) - known))}")
        for name in names:
            if name in given:
                put(self, name, given[name])
                continue
            default = defaults.get(name)
            if default is None:
                raise TypeError(f"{title}() misses the field {name}")
            put(self, name, default.default_factory() if default.default is _MISSING else default.default)
        if has_post_init:
            self.__post_init__()

    return __init__


def _make_repr(names: tuple[str, ...]) -> Callable[[Any], str]:
    def __repr__(self: Any) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return __repr__


def _make_eq(names: tuple[str, ...]) -> Callable[[Any, object], bool]:
    def __eq__(self: Any, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in names)

    return __eq__


def _make_hash(names: tuple[str, ...]) -> Callable[[Any], int]:
    def __hash__(self: Any) -> int:
        return hash(tuple(getattr(self, name) for name in names))

    return __hash__


def _make_getstate(names: tuple[str, ...]) -> Callable[[Any], list[object]]:
    def __getstate__(self: Any) -> list[object]:
        return [getattr(self, name) for name in names]

    return __getstate__


def _make_setstate(names: tuple[str, ...]) -> Callable[[Any, list[object]], None]:
    def __setstate__(self: Any, state: list[object]) -> None:
        for name, item in zip(names, state, strict=True):
            object.__setattr__(self, name, item)

    return __setstate__


def _refuse(self: object, name: str, *_value: object) -> None:
    raise AttributeError(f"{type(self).__qualname__}.{name} cannot be changed")
