"""The factor that job_submit.lua gave a new job, by the tag that it left in the admin comment.

>>> first_factor("dovetail:kind=training dovetail:first=-120")
-120
"""

from __future__ import annotations

FIRST = "dovetail:first="


def first_factor(comment: str) -> int:
    """The factor that job_submit.lua says it gave; 0 where it says nothing readable."""
    for word in comment.split():
        text = word.removeprefix(FIRST)
        if text != word and text.lstrip("-").isdecimal():
            return int(text)
    return 0
