"""Values of a TOML table by the type they must have: nothing is rounded, cut or guessed.

group = TomlTable({"gpus": 8, "type": "v100"}, "cluster.toml: [[nodes]] number 1")
group.required_whole("gpus")        # 8; of 8.7, true or "eight" an error that says where
group.number("cpus", math.inf)      # not there: what stands in for it
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dovetail.domain.errors import ClusterError


@dataclass(frozen=True, slots=True)
class TomlTable:
    """One table; `where` begins every error about it."""

    content: Mapping[str, Any]
    where: str

    def required_whole(self, key: str) -> int:
        if key not in self.content:
            raise ClusterError(f"{self.where} needs {key}")
        return self.whole(key, 0)

    def whole(self, key: str, default: int, low: int | None = None, high: int | None = None) -> int:
        """A whole number from `low` to `high`."""
        value = self.content.get(key, default)
        if not _is_whole(value):
            raise self._wrong(key, value, "a whole number such as 8")
        if low is not None and value < low:
            raise self._wrong(key, value, f"{low:,} or more")
        if high is not None and value > high:
            raise self._wrong(key, value, f"at most {high:,}")
        return int(value)

    def whole_numbers(self, key: str) -> tuple[int, ...]:
        value = self.content.get(key, [])
        if not isinstance(value, list) or not all(_is_whole(item) for item in value):
            raise self._wrong(key, value, "a list of whole numbers such as [1, 4]")
        return tuple(value)

    def number(self, key: str, default: float) -> float:
        value = self.content.get(key, default)
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise self._wrong(key, value, "a number such as 1.5")
        try:
            return float(value)
        except OverflowError:
            raise self._wrong(key, "larger than any computer", "a number such as 1.5") from None

    def text(self, key: str, default: str) -> str:
        value = self.content.get(key, default)
        if not isinstance(value, str):
            raise self._wrong(key, value, "text in quotes")
        return value

    def texts(self, key: str) -> list[str]:
        value = self.content.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self._wrong(key, value, 'a list of texts such as ["gpu[1-8]"]')
        return value

    def flag(self, key: str) -> bool:
        value = self.content.get(key, False)
        if not isinstance(value, bool):
            raise self._wrong(key, value, "true or false")
        return value

    def _wrong(self, key: str, value: object, expected: str) -> ClusterError:
        return ClusterError(f"{self.where}: {key} is {_shown(value)}, expected {expected}")


def refuse_unknown(table: object, known: set[str], where: str) -> None:
    """Raise for what is no table, and for the first key that nothing is known of."""
    if not isinstance(table, Mapping):
        raise ClusterError(f"{where}: expected a table")
    unknown = sorted(set(table) - known)
    if unknown:
        raise ClusterError(
            f"{where}: unknown key {unknown[0]!r}; known are {', '.join(sorted(known))}"
        )


def _is_whole(value: object) -> bool:
    """TOML promises 64 bits; Python would read more from a hexadecimal number."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63


def _shown(value: object) -> str:
    """As TOML writes it, not too long."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and abs(value) > 10**30:
        return "a number of more than 30 digits"
    text = repr(value) if isinstance(value, str | int | float | list) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
