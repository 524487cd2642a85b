"""The daemon's configuration: one frozen part per component, read from TOML, unknown keys refused.

>>> config = LiveConfig()
>>> config.mode.value, config.policy, config.guardrails.starvation_factor
('shadow', 'dovetail', 3.0)
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, get_type_hints

from dovetail.domain.errors import ConfigError
from dovetail.domain.objective import Objective
from dovetail.domain.promises import NO_PROMISE, Promises
from dovetail.files import Untrusted, read_file
from dovetail.live.model.mode import Mode


@dataclass(frozen=True, slots=True)
class SlurmConfig:
    """How Slurm is asked and told."""

    backend: str = "commands"  # text; "json": jobs and nodes as JSON; "rest"; "plugin": see there
    bin: str = ""  # folder of squeue, scontrol, ...; empty: PATH
    conf: str = ""  # SLURM_CONF; empty: the environment's
    timeout: float = 30.0  # seconds that one command may take
    rest_url: str = ""  # unix:/run/slurmrestd.sock or http://127.0.0.1:6820
    rest_user: str = ""  # the name that goes with the token; empty: none is told
    rest_token_file: str = ""  # mode 600; empty: rest_auth/local on the socket
    plugin_table: str = "/run/dovetail/factors"  # that site_factor/dovetail reads
    plugin_seconds: float = 900.0  # for which it holds after the last reading; at most a day
    plugin_default: int = 0  # the site factor of new jobs while there is a table

    def __post_init__(self) -> None:
        _above("slurm.timeout", self.timeout, 0.0)
        _above("slurm.plugin_seconds", self.plugin_seconds, 0.0)


@dataclass(frozen=True, slots=True)
class ActConfig:
    """What is changed about jobs, and which jobs are left alone."""

    knob: str = "sitefactor"  # or "priority": frozen, as in the paper
    horizon: int = 1000  # jobs at the head of the order that get a factor
    hints: bool = False  # tell jobs that start now where the policy would have them
    hint_by: str = "node"  # that very node; "features": any node with GPUs of its type
    speeds: str = ""  # a cluster file whose [speed] and [kind_speed.KIND] hold; empty: all alike
    partitions: tuple[str, ...] = ()  # only these; empty: all
    exclude_partitions: tuple[str, ...] = ()  # jobs of these are left alone
    exclude_accounts: tuple[str, ...] = ()  # likewise
    exclude_qos: tuple[str, ...] = ()  # likewise
    sla_tag: str = "dovetail:sla"  # in the admin comment, or a QOS of exclude_qos

    def __post_init__(self) -> None:
        if self.knob not in ("sitefactor", "priority"):
            raise ConfigError(f"act.knob is {self.knob!r}, expected sitefactor or priority")
        if self.hint_by not in ("node", "features"):
            raise ConfigError(f"act.hint_by is {self.hint_by!r}, expected node or features")
        _above("act.horizon", self.horizon, 0)


BINDING = ("tier", "qos", "partition", "account")
"""What a site may have declared about who goes before whom."""


@dataclass(frozen=True, slots=True)
class GuardrailConfig:
    """How far the daemon may go."""

    starvation_factor: float = 3.0  # a job waiting beyond so many p95 of its partition goes first
    starvation_floor: float = 172_800.0  # seconds; nobody starves before
    displacement: int = 500  # places that a job may lose against Slurm's order in a cycle
    changes_per_cycle: int = 2000  # more wait for the next cycle
    changes_per_hour: int = 20_000  # likewise
    model_days: float = 90.0  # older models are not trusted
    score_limit: float = 1e12  # scores beyond are out of range
    decide_seconds: float = 5.0  # a policy that takes longer is not followed
    read_seconds: float = 20.0  # an answer of Slurm that took longer is not acted upon
    vanished_share: float = 0.5  # of the pending jobs, gone at once without having started
    vanished_jobs: int = 20  # fewer than these are no reason to worry
    clock_jump: float = 30.0  # seconds between the wall clock and the steady one
    nodes_share: float = 0.3  # of the usable nodes, changed at once
    doubts_share: float = 0.05  # of all rows, that could not be read
    doubts_rows: int = 5  # fewer than these are no reason to worry
    binding: tuple[str, ...] = ("tier", "qos")  # jobs pass only jobs that are alike in these
    share_floor: float = 0.5  # no account below its share by more than this part of it
    trip_ratio: float = 1.2  # waits in active against what the twin says for Slurm alone
    trip_hours: float = 2.0  # in active mode, before waits are compared
    trip_jobs: int = 50  # fewer comparisons than these say nothing
    promise_hours: float = 24.0  # of broken promises without a break that end active mode
    failures: int = 5  # cycles in a row, unread or refused by Slurm, that end active mode

    def __post_init__(self) -> None:
        for item in fields(self):
            if item.name != "binding":
                _above(f"guardrails.{item.name}", getattr(self, item.name), 0.0)
        unknown = set(self.binding) - set(BINDING)
        if unknown:
            raise ConfigError(
                f"guardrails.binding has {sorted(unknown)[0]!r}, expected some of "
                f"{', '.join(BINDING)}"
            )


@dataclass(frozen=True, slots=True)
class JournalConfig:
    """Where everything is written down, and for how long it is kept."""

    path: str = "/var/lib/dovetail/journal.sqlite"  # nobody else may write there
    keep_days: float = 90.0  # older rows are taken out
    max_mb: float = 500.0  # the oldest rows go first when it grows beyond

    def __post_init__(self) -> None:
        _above("journal.keep_days", self.keep_days, 0.0)
        _above("journal.max_mb", self.max_mb, 1.0)


@dataclass(frozen=True, slots=True)
class MetricsConfig:
    """The endpoint for Prometheus."""

    host: str = "127.0.0.1"  # the address that is listened on
    port: int = 9877  # 0: no endpoint

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65_535:
            raise ConfigError(f"metrics.port is {self.port}, expected 0 (none) to 65535")
        if (self.host and self.host.split() != [self.host]) or "/" in self.host:
            raise ConfigError(
                f"metrics.host is {self.host!r}, expected an address such as 127.0.0.1"
            )


@dataclass(frozen=True, slots=True)
class AlertConfig:
    """A command of the site's own that is run when somebody should know."""

    command: tuple[str, ...] = ()  # its words; kind and sentence are added, no shell; empty: none
    every: float = 3600.0  # seconds between two alerts of one kind
    timeout: float = 30.0  # seconds that the command may take

    def __post_init__(self) -> None:
        if self.command and not self.command[0].startswith("/"):
            raise ConfigError(
                f"alerts.command begins with {self.command[0]!r}, expected a path from / on: "
                'such as ["/usr/local/bin/tell-operators", "--urgent"]'
            )
        _above("alerts.every", self.every, 0.0)
        _above("alerts.timeout", self.timeout, 0.0)


@dataclass(frozen=True, slots=True)
class TelemetryConfig:
    """Where readings of GPUs come from."""

    source: str = ""  # as for `dovetail telemetry status`: prometheus:http://host:9090; empty: none
    every: float = 60.0  # seconds between two readings, at least
    idle_below: float = 0.05  # a GPU that is used less is idle
    idle_minutes: float = 10.0  # without a break, before a job that holds it is named

    def __post_init__(self) -> None:
        _above("telemetry.every", self.every, 0.0)
        _above("telemetry.idle_minutes", self.idle_minutes, 0.0)
        if not 0.0 < self.idle_below <= 1.0:
            raise ConfigError(
                f"telemetry.idle_below is {self.idle_below}, expected above 0, at most 1"
            )


@dataclass(frozen=True, slots=True)
class TwinConfig:
    """The simulator fed with the real queue, once a day."""

    every_hours: float = 24.0  # between two comparisons
    days: float = 7.0  # of history that a comparison looks at

    def __post_init__(self) -> None:
        _above("twin.every_hours", self.every_hours, 0.0)
        _above("twin.days", self.days, 0.0)


@dataclass(frozen=True, slots=True)
class LiveConfig:
    """Everything; `load_config` reads it."""

    mode: Mode = Mode.SHADOW  # at the start: shadow, advise or active
    policy: str = "dovetail"  # ORDER[@PLACEMENT]: a name, or a checkpoint's folder
    estimates: str = "limit"  # or "predicted": from ended jobs, as the policy was chosen with
    period: float = 60.0  # seconds between cycles
    min_period: float = 15.0  # a wake-up comes not sooner than this after a cycle
    run_dir: str = "/run/dovetail"  # wake-up pipe, mode file, kill switch, lock
    slurm: SlurmConfig = field(default_factory=SlurmConfig)
    act: ActConfig = field(default_factory=ActConfig)
    guardrails: GuardrailConfig = field(default_factory=GuardrailConfig)
    journal: JournalConfig = field(default_factory=JournalConfig)
    metrics: MetricsConfig = field(default_factory=MetricsConfig)
    alerts: AlertConfig = field(default_factory=AlertConfig)
    telemetry: TelemetryConfig = field(default_factory=TelemetryConfig)
    twin: TwinConfig = field(default_factory=TwinConfig)
    promises: Promises = field(default_factory=Promises)  # what must not get worse
    objective: Objective = field(default_factory=Objective)  # what the trip-wire weighs

    def __post_init__(self) -> None:
        _above("period", self.period, 0.0)
        if not self.min_period >= 0.0:
            raise ConfigError(f"min_period is {self.min_period}, expected 0 or more")
        for what in ("makespan", "utilisation"):
            if getattr(self.objective, what) > 0.0:
                raise ConfigError(
                    f"objective.{what} is {getattr(self.objective, what):g}, expected 0: a cluster "
                    "that goes on has none to compare; wait, slowdown and tail are weighed here, "
                    "all five by `dovetail train --objective`"
                )
        if self.promises.utilisation < NO_PROMISE:
            raise ConfigError(
                f"promises.utilisation is {self.promises.utilisation:g}, expected none: a cluster "
                "that goes on has none to compare, and nothing would enforce it; `dovetail "
                "evaluate` and `dovetail compare` look at it with --promises utilisation=0"
            )
        if self.estimates.startswith("predicted:"):
            from dovetail.prediction.request import Request  # spares others Numba

            Request.parse(self.estimates)  # that is the check
        elif self.estimates not in ("limit", "predicted"):
            raise ConfigError(f"estimates is {self.estimates!r}, expected limit or predicted")

    @property
    def kill_switch(self) -> Path:
        """While this file exists, nothing is sent to Slurm."""
        return Path(self.run_dir) / "stop"


def load_config(path: Path) -> LiveConfig:
    """Read and check a configuration file, which nobody but root and we can have written."""
    try:
        text = read_file(path).decode("utf-8")
        config: LiveConfig = from_table(LiveConfig, tomllib.loads(text), str(path))
        return config
    except FileNotFoundError:
        raise ConfigError(
            f"{path}: no such file; `dovetail live install --dry-run` shows one"
        ) from None
    except Untrusted as problem:
        raise ConfigError(f"{problem}: whoever can write it commands the daemon") from None
    except OSError as problem:
        raise ConfigError(f"{path}: cannot be read: {problem.strerror}") from None
    except (ValueError, RecursionError) as error:  # also integers of thousands of digits
        raise ConfigError(f"{path}: not TOML: {error}") from None


def from_table(kind: Any, table: Mapping[str, Any], where: str) -> Any:
    """A configuration dataclass from a TOML table; unknown keys and wrong types are errors."""
    hints = get_type_hints(kind)
    unknown = set(table) - set(hints)
    if unknown:
        raise ConfigError(f"{where}: unknown key {sorted(unknown)[0]!r}; known: {', '.join(hints)}")
    values = {key: _value(hints[key], value, f"{where}: {key}") for key, value in table.items()}
    return kind(**values)


def _value(kind: Any, value: Any, where: str) -> Any:
    if is_dataclass(kind):
        if not isinstance(value, dict):
            raise ConfigError(f"{where}: expected a table")
        return from_table(kind, value, where)
    if kind is Mode:
        try:
            return Mode(value)
        except ValueError:
            names = ", ".join(mode.value for mode in Mode)
            raise ConfigError(f"{where} is {value!r}, expected {names}") from None
    if kind == tuple[str, ...]:
        if not (isinstance(value, list) and all(isinstance(item, str) for item in value)):
            raise ConfigError(f"{where}: expected a list of names")
        return tuple(value)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ConfigError(f"{where} is {value!r}, expected {kind.__name__}")
    return value


def _above(name: str, value: float, least: float) -> None:
    if not value > least:
        raise ConfigError(f"{name} is {value}, expected above {least:g}")
