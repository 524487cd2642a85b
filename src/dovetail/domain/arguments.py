"""Arguments of the library's functions, checked where they come in: a sentence, not a traceback.

expect("order", order, str, Ordering, words="the name of an ordering, or an Ordering")
seed = whole("seed", seed, low=0)
"""

from __future__ import annotations

import math
from numbers import Integral, Real

from dovetail.domain.errors import ConfigError

SHOWN = 60
"""Characters of a wrong value that an error repeats."""


def expect(name: str, value: object, *kinds: type, words: str) -> None:
    """Raise a TypeError that says what was given and what is expected."""
    if not isinstance(value, kinds):
        raise wrong_type(name, value, words)


def whole(name: str, value: object, low: int) -> int:
    """A whole number of `low` or more; NumPy's will do, truth values will not."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise wrong_type(name, value, "a whole number")
    if value < low:
        raise ConfigError(f"{name} is {abbreviate(value)}, expected {low} or more")
    return int(value)


def number(name: str, value: object) -> float:
    """Any finite number."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise wrong_type(name, value, "a number")
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise ConfigError(f"{name} is {abbreviate(value)}, expected a finite number")
    return found


def wrong_type(name: str, value: object, words: str) -> TypeError:
    return TypeError(f"{name} is {abbreviate(value)} ({type(value).__name__}), expected {words}")


def abbreviate(value: object) -> str:
    """A value in a few words, whatever it is."""
    try:
        text = repr(value)
    except Exception:  # a stranger's __repr__, or an integer of thousands of digits
        text = f"a {type(value).__name__}"
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."
