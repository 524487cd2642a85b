"""Estimates of one trace, as often as they are asked for; a predictor is run once only.

knowledge = Knowledge(trace)
knowledge.estimates("predicted:mixture,order=log-mean,reserve=q80")
knowledge.estimates("predicted:mixture,order=mean,reserve=q90")    # the same prediction
"""

from __future__ import annotations

from collections.abc import Mapping

from dovetail.domain.estimates import PREDICTED, Estimates
from dovetail.domain.trace import Trace
from dovetail.prediction.distribution import Distribution
from dovetail.prediction.estimates import estimates_from, make_estimates
from dovetail.prediction.predictors import predict
from dovetail.prediction.request import Request


class Knowledge:
    """What schedulers may be told of the jobs of a trace."""

    def __init__(self, trace: Trace, forecasts: Mapping[str, Distribution] | None = None) -> None:
        """`forecasts` are those that have been made before, by predictor."""
        self.trace = trace
        self._forecasts = dict(forecasts or {})

    def estimates(self, spec: str, seed: int = 0) -> Estimates:
        """As `make_estimates`."""
        if not is_predicted(spec):
            return make_estimates(self.trace, spec, seed)
        asked = Request.parse(spec)
        return estimates_from(self.forecast(asked.predictor), asked)

    def forecast(self, predictor: str) -> Distribution:
        """What a predictor says of every job."""
        if predictor not in self._forecasts:
            self._forecasts[predictor] = predict(self.trace.jobs, predictor)
        return self._forecasts[predictor]


def is_predicted(spec: str) -> bool:
    """Whether these estimates come from a prediction."""
    return spec == PREDICTED or spec.startswith(f"{PREDICTED}:")
