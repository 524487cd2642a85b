"""Knobs and values as the journal's file has them: in scontrol's words, as text.

>>> written(Change(17, "17", Knob.SITE_FACTOR, 0, 120, ""))
('SiteFactor', '0', '120')
>>> written(Change(17, "17", Knob.PRIORITY, 900, None, ""))
('release', '900', '')
>>> knob_of("release"), value_of("SiteFactor", "-5")
(<Knob.PRIORITY: 'priority'>, -5)
"""

from __future__ import annotations

from dovetail.live.model.decision import Change, Knob, Value

WORDS = {
    Knob.SITE_FACTOR: "SiteFactor",
    Knob.PRIORITY: "Priority",
    Knob.NODE: "ReqNodeList",
    Knob.FEATURES: "Features",
}
TEXTS = (Knob.NODE, Knob.FEATURES)
"""Knobs whose values are text; empty: not set."""

RELEASE = "release"
"""Gives a frozen priority back; in the file a word of its own."""

_KNOBS = {**{word: knob for knob, word in WORDS.items()}, RELEASE: Knob.PRIORITY}


def written(change: Change) -> tuple[str, str, str]:
    """Knob, value before and value after as text."""
    release = change.knob is Knob.PRIORITY and change.after is None
    return RELEASE if release else WORDS[change.knob], _text(change.before), _text(change.after)


def knob_of(word: str) -> Knob:
    return _KNOBS[word]


def value_of(word: str, text: str) -> Value:
    """The value of a knob by its word; None: not known, or Slurm's own."""
    if _KNOBS[word] in TEXTS:
        return text
    return int(text) if text else None


def _text(value: Value) -> str:
    return "" if value is None else str(value)
