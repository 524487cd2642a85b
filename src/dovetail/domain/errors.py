"""What can go wrong, as a tree; every message says what, where and what to do next.

DovetailError
├── UnknownName          a policy, format or cluster name that no registry holds
├── ConfigError          a value or key of a configuration that makes no sense
│   ├── ClusterError     a cluster description that cannot be built
│   └── MigRuleError     a cut of a GPU that the hardware does not allow, with the broken rule
├── ExtensionError       a part of another package that cannot be used, with the package's name
├── OutputError          a file that cannot be written
└── TraceError           a trace that cannot be used as it is
    └── BadRow           one row of a trace file, with file and line
"""

from __future__ import annotations


class DovetailError(Exception):
    """Base of every error that a user can cause and mend."""


class UnknownName(DovetailError):  # noqa: N818 - reads as what happened
    """A name that no registry holds."""


class ConfigError(DovetailError):
    """A configuration value or key that makes no sense."""


class ClusterError(ConfigError):
    """A cluster description that cannot be built."""


class MigRuleError(ConfigError):
    """A cut of a GPU that the hardware does not allow."""

    def __init__(self, rule: str, problem: str) -> None:
        self.rule, self.problem = rule, problem
        super().__init__(f"{problem} ({rule})")


class ExtensionError(DovetailError):
    """A part of another package that cannot be used."""


class OutputError(DovetailError):
    """A file that cannot be written."""


class TraceError(DovetailError):
    """A trace that cannot be used as it is."""


class BadRow(TraceError):  # noqa: N818 - reads as what happened
    """One row of a trace file that cannot be used."""

    def __init__(self, file: str, line: int, problem: str) -> None:
        self.file, self.line, self.problem = file, line, problem
        super().__init__(f"{file} line {line}: {problem}")
