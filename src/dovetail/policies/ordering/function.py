"""An ordering from a plain Python function of a job.

    def smallest_first(job, now):           # scored again at every pass
        return job.gpus * job.estimate - (now - job.submit)

    ordering = ordering_from(smallest_first)

`job` is a `Job`: the fields of JobFacts, nothing of which can be changed, and no true run time
among them. The lowest number goes first, NaN last. A function of the job alone, `f(job)`, is
asked once, when the job arrives.

A function that Numba can compile runs nearly as fast as one of ours. One that it cannot (it looks
into a dict of objects, calls another library, ...) is called in Python for every waiting job at
every pass, and a notice says so: some thirty times slower (see decision 0020).
"""

from __future__ import annotations

import ctypes
import inspect
import math
import warnings
from collections import namedtuple
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numba
import numpy as np
from numba import cfunc, njit, types
from numba.core.errors import NumbaError, NumbaWarning

from dovetail.compiled.functions import LazyFunction
from dovetail.compiled.tables import Table, dtype_of
from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats
from dovetail.domain.policy import SCORE, JobFacts, Ordering, Varies

Function = Callable[..., float]
"""Of a job, or of a job and the time in seconds."""

DTYPE = dtype_of(JobFacts)
FIELDS = tuple(DTYPE.names or ())
Job: Any = namedtuple("Job", FIELDS)  # type: ignore[misc]
Job.__doc__ = "What a plain function sees of a job: the facts of JobFacts, read only."

JOB = types.NamedTuple(
    [numba.from_dtype(DTYPE.fields[name][0]) for name in FIELDS],  # type: ignore[index]
    Job,
)
FAILED_ROW, FAILED_NOW = 0, 1
"""Parameters of a compiled function: 1 + the first job that it failed for, and when."""


class SlowOrdering(UserWarning):
    """An ordering is called in Python."""


def ordering_from(function: Function, name: str | None = None) -> Ordering:
    """The function as an ordering, under its own name if no other is given."""
    if not callable(function):
        raise ConfigError(f"{function!r} is no function of a job; expected f(job) or f(job, now)")
    asked_again = _takes_time(function)
    return Ordering(
        name or _name_of(function),
        _score_of(function, asked_again),
        Varies.ALWAYS if asked_again else Varies.NEVER,
        parameters={"failed_row": 0.0, "failed_now": 0.0},
        uses_prediction=True,  # a job's `predicted` is among what it may look at
    )


def _takes_time(function: Function) -> bool:
    """Whether it wants the time besides the job; other signatures are refused."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        raise _unfit(function, "that tells no arguments") from None
    for arguments in (2, 1):
        try:
            signature.bind(*range(arguments))
        except TypeError:
            continue
        return arguments == 2
    raise _unfit(function, f"{signature}")


def _unfit(function: Function, what: str) -> ConfigError:
    return ConfigError(
        f"ordering {_name_of(function)} has the arguments {what}, expected (job) or (job, now)"
    )


def _name_of(function: Function) -> str:
    return str(getattr(function, "__name__", type(function).__name__)).strip("<>")


def _score_of(function: Function, takes_time: bool) -> FunctionScore:
    return (CompiledScore if _compiles(function, takes_time) else PythonScore)(function, takes_time)


def _compiles(function: Function, takes_time: bool) -> bool:
    """Whether Numba makes a number of it, without a warning."""
    if not inspect.isfunction(function):
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", NumbaWarning)
            compiled = njit(function)
            arguments = (JOB, types.float64) if takes_time else (JOB,)
            compiled.compile(arguments)
            found = compiled.overloads[arguments].signature.return_type
    except (NumbaError, NumbaWarning, NotImplementedError, TypeError, ValueError, KeyError):
        return False
    return isinstance(found, types.Integer | types.Float | types.Boolean)


class FunctionScore(LazyFunction):
    """A plain function behind the signature of a score."""

    def __init__(self, function: Function, takes_time: bool) -> None:
        super().__init__(SCORE, function)
        self.takes_time = takes_time

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.function, self.takes_time)

    def value(self, job: tuple[Any, ...], now: float) -> float:
        """What the function says in Python; anything but a number is an error."""
        given = (Job(*job), now) if self.takes_time else (Job(*job),)
        found = self.function(*given)
        try:
            return float(found)
        except (TypeError, ValueError):
            name = _name_of(self.function)
            raise ConfigError(f"ordering {name} gave {found!r}, expected a number") from None


class CompiledScore(FunctionScore):
    """Compiled: what it raises is found out by calling it again in Python."""

    @cached_property
    def pointer(self) -> Any:
        score = njit(self.function)
        takes_time = self.takes_time

        @njit
        def one(job: Any, now: float) -> float:
            if takes_time:
                return float(score(_facts(job), now))
            return float(score(_facts(job)))

        @cfunc(SCORE)
        def every(
            p: Any, jobs: Any, accounts: Any, demands: Any, cluster: Any,
            rows: Any, out: Any, gate: Any, keep: Any,
        ) -> None:  # fmt: skip
            for i in range(len(rows)):
                out[i] = math.nan
                try:
                    out[i] = one(jobs[rows[i]], cluster[0].now)
                except Exception:
                    if p[FAILED_ROW] == 0.0:
                        p[FAILED_ROW], p[FAILED_NOW] = 1.0 + rows[i], cluster[0].now

        return every

    def raise_failure(self, parameters: Floats, jobs: Table) -> None:
        if parameters[FAILED_ROW] == 0.0:
            return
        row, now = int(parameters[FAILED_ROW]) - 1, float(parameters[FAILED_NOW])
        parameters[FAILED_ROW] = 0.0
        self.value(jobs[row].item(), now)
        raise ConfigError(f"ordering {_name_of(self.function)} failed for job {row} at {now} s")


class PythonScore(FunctionScore):
    """Called in Python, through an address that compiled code can jump to."""

    in_python = True

    def __init__(self, function: Function, takes_time: bool) -> None:
        super().__init__(function, takes_time)
        self._failure: BaseException | None = None
        self._jobs, self._shown = np.empty(0, DTYPE), (0, 0)  # the last table, and where it lies
        warnings.warn(
            f"ordering {_name_of(function)} cannot be compiled: it is called in Python for every "
            "waiting job, some thirty times slower",
            SlowOrdering,
            stacklevel=2,
        )

    @cached_property
    def pointer(self) -> Any:
        word, number = ctypes.c_int64, ctypes.c_double
        kind = ctypes.CFUNCTYPE(number, word, word, word, number)
        self._door = door = kind(self._answer)  # lives as long as the code that holds its address

        @cfunc(SCORE)
        def every(
            p: Any, jobs: Any, accounts: Any, demands: Any, cluster: Any,
            rows: Any, out: Any, gate: Any, keep: Any,
        ) -> None:  # fmt: skip
            for i in range(len(rows)):
                out[i] = door(jobs.ctypes.data, len(jobs), rows[i], cluster[0].now)

        return every

    def _answer(self, address: int, count: int, row: int, now: float) -> float:
        if self._failure is not None:
            return math.nan
        try:
            if self._shown != (address, count):
                memory = (ctypes.c_char * (count * DTYPE.itemsize)).from_address(address)
                self._jobs, self._shown = (
                    np.ndarray(count, DTYPE, memoryview(memory)),
                    (address, count),
                )
            return self.value(self._jobs[row].item(), now)
        except BaseException as failure:  # also Ctrl-C: it is raised again outside
            self._failure = failure
            return math.nan

    def raise_failure(self, parameters: Floats, jobs: Table) -> None:
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure


@njit
def _facts(job: Any) -> Any:
    return Job(  # type: ignore[call-arg]
        submit=job.submit, estimate=job.estimate, reserve=job.reserve, size=job.size,
        demand=job.demand, log_gpus=job.log_gpus, log_estimate=job.log_estimate, spread=job.spread,
        predicted=job.predicted, gpus=job.gpus, deadline=job.deadline, priority=job.priority,
        partition_factor=job.partition_factor, qos_factor=job.qos_factor, points=job.points,
        account=job.account, cpus_per_gpu=job.cpus_per_gpu, memory_per_gpu=job.memory_per_gpu,
        skew=job.skew, margin=job.margin, exempt=job.exempt,
    )  # fmt: skip
