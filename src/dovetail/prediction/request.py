"""Which prediction is asked for: `predicted:mixture,order=log-mean,reserve=q80`.

>>> Request.parse("predicted:history,reserve=q90").spec
'predicted:history,order=log-mean,reserve=q90'
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats
from dovetail.domain.registry import Registry
from dovetail.prediction.distribution import Distribution
from dovetail.prediction.gittins import gittins_size
from dovetail.prediction.predictors import PREDICTORS
from dovetail.prediction.smith import smith_size

SUMMARIES: Registry[Callable[[Distribution], Floats]] = Registry(
    "summary of a prediction",
    {
        "log-mean": lambda forecast: forecast.log_mean,
        "mean": lambda forecast: forecast.mean,
        "median": lambda forecast: forecast.quantile(0.5),
        "gittins": gittins_size,
        "smith": smith_size,
    },
)
"""One number for a distribution of run times; quantiles are written q5 to q95."""

_QUANTILE = re.compile(r"q(\d{1,2})")
LOWEST, HIGHEST = 5, 95


@dataclass(frozen=True, slots=True)
class Summary:
    """One number for a distribution, by name."""

    name: str

    def __post_init__(self) -> None:
        found = _QUANTILE.fullmatch(self.name)
        if found is None and self.name not in SUMMARIES:
            raise SUMMARIES.unknown(self.name, f"q{LOWEST}", "q50", "q80", f"q{HIGHEST}")
        if found is not None and not LOWEST <= int(found[1]) <= HIGHEST:
            raise ConfigError(f"{self.name}: expected a quantile from q{LOWEST} to q{HIGHEST}")

    @property
    def level(self) -> float | None:
        """Of a quantile; None: it is something else."""
        found = _QUANTILE.fullmatch("q50" if self.name == "median" else self.name)
        return None if found is None else int(found[1]) / 100.0

    def of(self, forecast: Distribution) -> Floats:
        """Seconds for every job."""
        if self.level is not None:
            return forecast.quantile(self.level)
        return SUMMARIES[self.name](forecast)

    def whole_given(self, forecast: Distribution, elapsed: Floats) -> Floats:
        """The same of all the run time, given how long each has run."""
        if self.level is not None:
            return forecast.whole_given(elapsed, self.level)
        return elapsed + self.of(forecast.remaining(elapsed))


@dataclass(frozen=True, slots=True)
class Request:
    """A predictor, and what of its distribution the order and the reservations go by."""

    predictor: str = "mixture"
    order: Summary = Summary("log-mean")
    reserve: Summary = Summary("q80")

    @classmethod
    def parse(cls, text: str) -> Request:
        """From the text after `--estimates`; what is not said is as in `predicted`."""
        _, _, rest = text.partition(":")
        chosen: dict[str, str] = {}
        for part in filter(None, (piece.strip() for piece in rest.split(","))):
            name, sign, value = part.partition("=")
            name, value = (name.strip(), value.strip()) if sign else ("predictor", name.strip())
            if name not in ("predictor", "order", "reserve") or not value:
                raise ConfigError(
                    f"estimates {text!r}: {part!r}, expected a predictor, order=WHAT or "
                    "reserve=WHAT"
                )
            if name in chosen:
                raise ConfigError(f"estimates {text!r}: {name} is given twice")
            chosen[name] = value
        plain = cls()
        predictor = chosen.get("predictor", plain.predictor)
        PREDICTORS[predictor]  # an unknown name should not cost the reading of a large file
        return cls(
            predictor,
            Summary(chosen.get("order", plain.order.name)),
            Summary(chosen.get("reserve", plain.reserve.name)),
        )

    @property
    def spec(self) -> str:
        """The text in full, so that a result says what it rests on."""
        return f"predicted:{self.predictor},order={self.order.name},reserve={self.reserve.name}"
