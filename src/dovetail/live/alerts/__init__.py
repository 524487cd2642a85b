"""Tells people when the daemon needs one: what is worth it, and the site's own command for it.

>>> from dovetail.live.cycle.report import CycleReport
>>> from dovetail.live.model.mode import Mode
>>> (alert,) = alerts_of(CycleReport(Mode.SHADOW, "left active mode", fell_back=True))
>>> alert.kind.value
'fallback'
"""

from __future__ import annotations

from dovetail.live.alerts.alert import Alert, AlertKind, alerts_of
from dovetail.live.alerts.command import AlertCommand

__all__ = ["Alert", "AlertCommand", "AlertKind", "alerts_of"]
