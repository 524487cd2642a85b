"""What is sent to Slurm, and what takes it back."""

from __future__ import annotations

from dovetail.live.config import ActConfig
from dovetail.live.cycle.changes import changes_for as _changes_for
from dovetail.live.cycle.changes import competitors
from dovetail.live.ledger import LedgerEntry, LedgerView
from dovetail.live.ledger.restore import changes_back
from dovetail.live.model.decision import Change, Decision, Hint, Knob, Value
from dovetail.live.model.first_factor import first_factor
from dovetail.live.model.snapshot import Factor, LivePartition, Snapshot
from tests.live.builders import running, snapshot, waiting

ACT = ActConfig()
NOTHING = LedgerView()


def changes_for(
    decision: Decision, queue: Snapshot, own: LedgerView, act: ActConfig
) -> tuple[Change, ...]:
    """With the priorities that the jobs have without our factors."""
    given = {job: factor.own for job, factor in queue.factors.items()}
    return _changes_for(decision, queue, own, act, given)


def sent(changes: tuple[Change, ...]) -> dict[str, tuple[Value, Value]]:
    return {change.label: (change.before, change.after) for change in changes}


def held(job: int, knob: Knob, value: Value) -> LedgerView:
    entry = LedgerEntry(job, knob, None, frozenset({value}), value)
    return LedgerView({entry.key: entry})


def test_the_fewest_messages_bring_the_order_about() -> None:
    queue = snapshot([waiting(1, priority=900), waiting(2, priority=100)])
    changes = changes_for(Decision(order=(2, 1)), queue, NOTHING, ACT)
    assert sent(changes) == {"2": (0, 1787)}  # one message: there is room above 900


def test_only_jobs_that_share_nodes_with_ours_keep_us_below_them() -> None:
    parts = (
        LivePartition("gpu", ("a",)),
        LivePartition("cpu", ("b",)),
        LivePartition("all", ("a", "b")),
    )
    queue = snapshot(
        [waiting(1), waiting(2, partitions=("cpu",)), waiting(3, partitions=("all",))],
        partitions=parts,
    )
    assert competitors(queue, {1}) == [3]


def test_an_order_that_is_there_already_sends_nothing() -> None:
    queue = snapshot([waiting(1, priority=900), waiting(2, priority=100)])
    assert changes_for(Decision(order=(1, 2)), queue, NOTHING, ACT) == ()


def test_the_paper_s_way_freezes_priorities_and_remembers_what_slurm_gave() -> None:
    queue = snapshot([waiting(1, priority=900), waiting(2, priority=100)])
    changes = changes_for(Decision(order=(2, 1)), queue, NOTHING, ActConfig(knob="priority"))
    assert {change.knob for change in changes} == {Knob.PRIORITY}
    assert {change.job: change.before for change in changes}[2] == 100


def test_an_array_goes_by_the_tasks_that_wait_together_and_never_by_its_number() -> None:
    rest = waiting(7, array=7, tasks=5, priority=10)._replace(label="7_[2-6]")
    task = waiting(9, array=7, priority=20)._replace(label="7_1")
    other = waiting(10, priority=500)
    queue = snapshot([rest, task, other], site={7: 3})
    changes = changes_for(Decision(order=(7, 9, 10)), queue, NOTHING, ACT)
    assert "7_[2-6]" in {change.label for change in changes}
    assert [change.label for change in changes_back((site(7, 3),), queue)] == ["7_[2-6]"]


def test_what_job_submit_gave_first_counts_as_ours() -> None:
    assert first_factor("dovetail:kind=training dovetail:first=250") == 250
    assert first_factor("dovetail:first=oops") == 0
    queue = snapshot([waiting(1, comment="dovetail:first=250")], site={1: 250})
    assert NOTHING.factors(queue) == {1: 250}


def test_a_task_that_was_split_off_inherits_what_its_array_got() -> None:
    task = waiting(9, array=7)._replace(label="7_1")
    assert held(7, Knob.SITE_FACTOR, 40).factors(snapshot([task], site={9: 40})) == {9: 40}


def test_a_pin_that_did_not_start_the_job_is_taken_off() -> None:
    queue = snapshot([waiting(1), waiting(2)])
    pinned = changes_for(Decision(order=(1, 2), hints={1: Hint("p100-1")}), queue, NOTHING, ACT)
    assert [(c.job, c.knob, c.after) for c in pinned if c.knob is Knob.NODE] == [
        (1, Knob.NODE, "p100-1")
    ]
    later = changes_for(Decision(order=(1, 2)), queue, held(1, Knob.NODE, "p100-1"), ACT)
    assert [(c.job, c.after) for c in later if c.knob is Knob.NODE] == [(1, "")]


def test_a_feature_that_did_not_start_the_job_is_taken_off_and_an_operators_stays() -> None:
    hints = {1: Hint(feature="m40"), 2: Hint(feature="m40")}
    sent = changes_for(Decision((1, 2), hints=hints), snapshot([waiting(1), waiting(2)]),
                       NOTHING, ACT)  # fmt: skip
    features = [(c.job, c.before, c.after) for c in sent if c.knob is Knob.FEATURES]
    assert features == [(1, "", "m40"), (2, "", "m40")]
    own = held(1, Knob.FEATURES, "m40")
    queue = snapshot([waiting(1, features="m40"), waiting(2, features="k80")])
    later = changes_for(Decision(order=(1, 2)), queue, own, ACT)
    assert [(c.job, c.after) for c in later if c.knob is Knob.FEATURES] == [(1, "")]
    queue = snapshot([waiting(1, features="k80")])
    assert not [c for c in changes_for(Decision((1,)), queue, own, ACT) if c.knob is Knob.FEATURES]


def test_features_are_put_back_unless_somebody_has_set_others() -> None:
    touch = LedgerEntry(1, Knob.FEATURES, "", frozenset({"m40"}))
    (back,) = changes_back((touch,), snapshot([waiting(1, features="m40")]))
    assert (back.knob, back.after) == (Knob.FEATURES, "")
    assert changes_back((touch,), snapshot([waiting(1, features="k80")])) == ()


def site(job: int, *asked: int) -> LedgerEntry:
    return LedgerEntry(job, Knob.SITE_FACTOR, 0, frozenset(asked))


def test_a_factor_of_ours_goes_back_to_nothing() -> None:
    queue = snapshot([waiting(1), waiting(2)], site={1: 40})
    assert sent(changes_back((site(1, 40), site(2, 50)), queue)) == {"1": (None, 0)}


def test_a_factor_that_an_operator_has_set_since_is_his() -> None:
    assert changes_back((site(1, 40),), snapshot([waiting(1)], site={1: 77})) == ()


def test_a_job_that_runs_is_put_back_too_as_it_may_be_requeued() -> None:
    assert sent(changes_back((site(1, 40),), snapshot([running(1, "p100-1")]))) == {"1": (None, 0)}


def test_tasks_of_a_touched_array_are_put_back_whatever_their_number() -> None:
    task = waiting(9, array=7)._replace(label="7_1")
    changes = changes_back((site(7, 40),), snapshot([task], site={9: 40}))
    assert sent(changes) == {"7_1": (None, 0)}


def test_a_frozen_job_is_released_and_one_that_thawed_is_not() -> None:
    touch = LedgerEntry(1, Knob.PRIORITY, 100, frozenset({900}))
    frozen = snapshot([waiting(1)], factors={1: Factor(900, 0, True)})
    assert [(c.knob, c.after) for c in changes_back((touch,), frozen)] == [(Knob.PRIORITY, None)]
    assert changes_back((touch,), snapshot([waiting(1)])) == ()


def test_a_priority_that_an_operator_has_set_since_is_his() -> None:
    touch = LedgerEntry(1, Knob.PRIORITY, 100, frozenset({900}))
    theirs = snapshot([waiting(1)], factors={1: Factor(5000, 0, True)})
    assert changes_back((touch,), theirs) == ()


def test_a_frozen_job_that_somebody_holds_is_not_released() -> None:
    touch = LedgerEntry(1, Knob.PRIORITY, 100, frozenset({900}))
    held = snapshot([waiting(1, priority=0, reason="JobHeldAdmin")], factors={})
    assert changes_back((touch,), held) == ()


def test_jobs_that_slurm_does_not_show_are_asked_about_and_not_believed_gone() -> None:
    changes = changes_back((site(1, 40),), snapshot([waiting(2)]))
    assert sent(changes) == {"1": (None, 0)}
    frozen = LedgerEntry(1, Knob.PRIORITY, 100, frozenset({900}))
    assert changes_back((frozen,), snapshot([waiting(2)])) == ()  # somebody may hold it
