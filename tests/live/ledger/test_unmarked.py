"""Values that stand too close to carry the mark are ours all the same when the journal is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from dovetail.live.backends.recorded import MemoryCluster, RecordedBackend
from dovetail.live.journal import JournalError
from dovetail.live.ledger.unmarked import FILE, UnmarkedFactors
from dovetail.live.model.decision import Change, Knob
from dovetail.live.model.mark import is_marked
from dovetail.live.model.mode import Mode
from dovetail.live.model.snapshot import LiveJob
from tests.live.memory import full_cluster, steering_in_memory


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir(mode=0o750)
    return folder


def factors(cluster: MemoryCluster) -> dict[int, int]:
    return {job: factor.site for job, factor in cluster.factors().items() if factor.site}


def change(job: int, value: int) -> Change:
    return Change(job, str(job), Knob.SITE_FACTOR, 0, value, "")


def waiting(job: int, array: int = 0) -> LiveJob:
    return LiveJob(job, str(job), "PENDING", array=array)


def test_a_lost_journal_leaves_no_factor_and_an_operator_s_own_stays(
    tmp_path: Path, run_dir: Path
) -> None:
    cluster, jobs = full_cluster([90 - 2 * place for place in range(30)])
    cluster.freeze(cluster.submit(gpus=4, limit=60.0), 1001)  # nobody goes past it
    own = cluster.submit(gpus=4, limit=7200.0)
    cluster.set_site(own, -70)
    backend = RecordedBackend(cluster)
    with steering_in_memory(backend, tmp_path, unmarked=UnmarkedFactors(run_dir)) as controller:
        controller.cycle()
    ours = factors(cluster).keys() - {own}
    assert ours
    assert ours <= set(jobs)
    assert not all(is_marked(factors(cluster)[job]) for job in ours)
    for file in tmp_path.glob("journal.sqlite*"):
        file.unlink()
    kept = UnmarkedFactors(run_dir)
    with steering_in_memory(backend, tmp_path, Mode.SHADOW, kept) as controller:
        assert f"{len(ours)} jobs have a site factor that follows" in controller.cycle().trouble
        actuator = controller.actuator
        actuator.reset_ours(actuator.left_over(), backend.read())
    assert factors(cluster) == {own: -70}
    assert not UnmarkedFactors(run_dir).has(waiting(min(ours)), -4)


def test_only_what_is_without_a_mark_is_written_and_tasks_have_it_from_their_array(
    run_dir: Path,
) -> None:
    UnmarkedFactors(run_dir).note([change(5, 1787)])
    assert not (run_dir / FILE).exists()
    UnmarkedFactors(run_dir).note([change(5, 1787), change(6, -4)])
    kept = UnmarkedFactors(run_dir)
    assert kept.has(waiting(6), -4)
    assert kept.has(waiting(9, array=6), -4)
    assert not kept.has(waiting(6), -8)
    assert not kept.has(waiting(5), 1787)


def test_of_jobs_that_ended_nothing_is_kept_but_what_an_earlier_daemon_left(run_dir: Path) -> None:
    UnmarkedFactors(run_dir).note([change(1, -4)])
    later = UnmarkedFactors(run_dir)
    later.note([change(2, -8)], open_jobs={2})
    later.note([change(3, -12)], open_jobs={3})
    found = UnmarkedFactors(run_dir)
    assert [found.has(waiting(job), -4 * job) for job in (1, 2, 3)] == [True, False, True]


def test_what_cannot_be_written_down_must_not_be_sent(run_dir: Path) -> None:
    kept = UnmarkedFactors(run_dir)
    run_dir.chmod(0o777)
    with pytest.raises(JournalError, match="others may write it"):
        kept.note([change(6, -4)])
    run_dir.chmod(0o750)
    kept.note([change(6, -4)])


@pytest.mark.parametrize("text", ["", "something else\n", "dovetail-unmarked-factors 1\n6 x\n"])
def test_a_file_that_makes_no_sense_is_not_believed(run_dir: Path, text: str) -> None:
    (run_dir / FILE).write_text(text)
    (run_dir / FILE).chmod(0o640)
    assert not UnmarkedFactors(run_dir).has(waiting(6), -4)
