"""What arguments that are no tensors must be: each check names the function, the argument, what it got and what it needs.

Without torch, so that `shapes` starts without it too.
"""

from __future__ import annotations

import operator
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

SINGLE = (str, int, float, type(None))
SHOWN = (*SINGLE, tuple, list, dict)  # others are named by their type


def message(function: str, name: str, value: object, needs: str, *, by_value: bool = True) -> str:
    """The sentence for a value that an argument cannot have; without a function where many share the check."""
    got = repr(value) if isinstance(value, SHOWN if by_value else SINGLE) else f"a {type(value).__name__}"
    return f"{function + ': ' if function else ''}{name} is {got if len(got) < 200 else got[:200] + '...'}; it must be {needs}."


def one_of(function: str, name: str, value: str, allowed: Sequence[str]) -> None:
    """Raise unless `value` is one of the allowed words."""
    if value not in allowed:
        raise ValueError(message(function, name, value, f"one of {', '.join(map(repr, allowed))}"))


def whole(function: str, least: int | None = None, most: int | None = None, /, **values: object) -> None:
    """Raise unless all are whole numbers from `least` to `most`; NumPy's and torch's count, 3.0 does not."""
    needs = "a whole number"
    if least is not None:
        needs += f" of at least {least}" if most is None else f" from {least} to {most}"
    for name, value in values.items():
        try:
            number = value if isinstance(value, int) else operator.index(value)  # type: ignore[arg-type]  # or it raises
        except TypeError:
            raise TypeError(message(function, name, value, needs)) from None
        if (least is not None and number < least) or (most is not None and number > most):
            raise ValueError(message(function, name, value, needs))


def number(function: str, needs: str, fits: Callable[[Any], bool], /, **values: object) -> None:
    """Raise unless all are numbers for which `fits` is true, which it never is for NaN."""
    for name, value in values.items():
        try:
            good = not isinstance(value, str) and bool(fits(value))
        except (TypeError, ValueError, RuntimeError):  # no number, or several of them
            good = False
        if not good:
            error = ValueError if isinstance(value, (int, float)) else TypeError
            raise error(message(function, name, value, f"a number {needs}"))


def above_0(function: str, /, **values: object) -> None:
    """Raise unless all are numbers above 0."""
    number(function, "above 0", lambda value: value > 0, **values)


def from_0(function: str, /, **values: object) -> None:
    """Raise unless all are numbers that are not negative."""
    number(function, "of 0 or more", lambda value: value >= 0, **values)


def share(function: str, /, **values: object) -> None:
    """Raise unless all are numbers from 0 to 1."""
    number(function, "from 0 to 1", lambda value: 0 <= value <= 1, **values)


def kind(function: str, wanted: type | tuple[type, ...], needs: str, /, **values: object) -> None:
    """Raise unless all are of a type."""
    for name, value in values.items():
        if not isinstance(value, wanted):
            raise TypeError(message(function, name, value, needs, by_value=False))


def path(function: str, /, **values: object) -> None:
    """Raise unless all are paths: a number would be taken for an open file of this process."""
    kind(function, (str, os.PathLike), "a path", **values)


def function(owner: str, /, **values: object) -> None:
    """Raise unless all can be called."""
    for name, value in values.items():
        if not callable(value):
            raise TypeError(message(owner, name, value, "a function"))


def several(function: str, wanted: type | tuple[type, ...], needs: str, /, **values: Iterable[Any]) -> list[Any]:
    """Give the one argument as a list, or raise unless it is several of a type."""
    ((name, value),) = values.items()
    try:
        found = [*value]
    except TypeError:
        raise TypeError(message(function, name, value, f"a list, {needs} each")) from None
    for place, one in enumerate(found):
        if not isinstance(one, wanted):
            raise TypeError(message(function, f"{name}[{place}]", one, needs, by_value=False))
    return found


def names(function: str, /, **values: str | Iterable[str]) -> list[str]:
    """Give the one argument as a list of names; a text is one name and not its letters."""
    ((name, value),) = values.items()
    return [value] if isinstance(value, str) else several(function, str, "a name", **{name: value})
