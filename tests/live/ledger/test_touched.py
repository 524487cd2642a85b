"""What must be set back, whatever order of intents, results, restores, ends and crashes."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.live.config import JournalConfig
from dovetail.live.journal import CycleRecord, Happened, Journal, Touched
from dovetail.live.journal.records import GONE, REQUEUED, Ended
from dovetail.live.model.decision import Change, Knob, Result
from dovetail.live.model.mode import Mode

JOBS = st.integers(1, 4)
KNOBS = st.sampled_from([Knob.SITE_FACTOR, Knob.NODE, Knob.PRIORITY, Knob.RELEASE])
VALUES = st.sampled_from(["", "0", "7", "9"])
CHANGES = st.builds(
    lambda job, knob, before, after: Change(job, f"{job}_1", knob, before, after, "why"),
    *(JOBS, KNOBS, VALUES, VALUES),
)
SENT = st.lists(st.tuples(CHANGES, st.booleans()), min_size=1, max_size=5)
STEPS = st.one_of(
    st.tuples(st.just("act"), SENT),
    st.tuples(st.just("act, and be killed before the answer"), SENT),
    st.tuples(st.just("ends"), st.lists(st.tuples(JOBS, st.sampled_from([GONE, REQUEUED])))),
    st.tuples(st.just("restart"), st.none()),
)


class Model:
    """The same in plain words: for each value, what it was before the first open intent."""

    def __init__(self) -> None:
        self.open: dict[tuple[int, Knob], str] = {}

    def intend(self, changes: list[Change]) -> None:
        for change in changes:
            if change.knob is not Knob.RELEASE:
                self.open.setdefault((change.job, change.knob), change.before)

    def settle(self, results: list[Result]) -> None:
        for number, result in enumerate(results):
            change = result.change
            released = change.knob is Knob.RELEASE
            about = (change.job, Knob.PRIORITY if released else change.knob)
            later = [
                other.change
                for other in results[number + 1 :]
                if (other.change.job == change.job and (other.change.knob is about[1]))
                or (other.change.job, other.change.knob, about[1])
                == (change.job, Knob.RELEASE, Knob.PRIORITY)
            ]
            undone = released or (
                about[1] is not Knob.PRIORITY and change.after == self.open.get(about)
            )
            if result.done and undone and not later:
                self.open.pop(about, None)

    def gone(self, job: int) -> None:
        self.open = {key: before for key, before in self.open.items() if key[0] != job}


@settings(max_examples=150, deadline=None)
@given(st.lists(STEPS, max_size=12))
def test_touched_is_what_a_plain_model_says(
    steps: list[tuple[str, list[tuple[object, object]]]],
) -> None:
    model = Model()
    with tempfile.TemporaryDirectory() as folder:
        config = JournalConfig(path=str(Path(folder) / "journal.sqlite"))
        journal = Journal.open(config)
        for step, what in steps:
            if step.startswith("act"):
                results = [
                    Result(change, "" if done else "no such job")
                    for change, done in what
                    if isinstance(change, Change)
                ]
                changes = [result.change for result in results]
                intents = journal.intend(changes, 0.0)
                model.intend(changes)
                if step == "act":
                    journal.settle(intents, results, 0.0)
                    model.settle(results)
            elif step == "ends":
                ended = tuple(Ended(int(str(job)), 0.0, 1.0, str(state)) for job, state in what)
                journal.record(
                    CycleRecord(0.0, 0.0, Mode.ACTIVE, "went on"), happened=Happened((), ended)
                )
                for end in ended:
                    if end.state == GONE:
                        model.gone(end.job)
            else:
                journal.close()
                journal = Journal.open(config)
        expected = {
            Touched(job, f"{job}_1", knob, before) for (job, knob), before in model.open.items()
        }
        assert set(journal.past.touched()) == expected
        assert len(journal.past.touched()) == len(expected)
        journal.close()
