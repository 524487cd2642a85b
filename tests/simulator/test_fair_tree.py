"""Slurm's Fair Tree: the compiled simulator against the oracle, and cases by hand."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from dovetail.domain.associations import AS_PARENT, ROOT, Association
from dovetail.domain.cluster import Cluster, Node
from dovetail.domain.policy import Backfill, BackfillRule, SlurmBackfill
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.placement import PLACEMENTS
from dovetail.simulator.engine import Simulation
from tests.builders import JobRow, estimates_of, job, trace_of
from tests.oracles.answers import difference
from tests.oracles.cases import Case, cases, in_a_tree, reduced
from tests.oracles.simulator import simulate as play
from tests.oracles.slurm_backfill import simulate as play_slurm
from tests.simulator.runs import CONFIGURED, PREFERRING, compiled

quick = settings(
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)
RULES: tuple[BackfillRule, ...] = (*Backfill, SlurmBackfill(interval=2.5, resolution=3))


def parting(case: Case, ordering: str, placement: str, rule: BackfillRule) -> str | None:
    told, affinity = case.estimates, case.affinity if placement == "gpu-affinity" else {}
    seconds = told.seconds.tolist()
    common = (case.trace, case.cluster, ordering, placement)
    if isinstance(rule, SlurmBackfill):
        oracle = play_slurm(*common, rule, seconds, affinity)
    else:
        oracle = play(*common, rule, seconds, affinity)
    return difference(oracle, compiled(*common, rule, told, affinity))


@pytest.mark.parametrize("ordering", ["slurm-multifactor", CONFIGURED.name])
@settings(quick, max_examples=60)
@given(
    case=cases(most_jobs=22).map(in_a_tree),
    placement=st.sampled_from(PREFERRING),
    rule=st.sampled_from(RULES),
)
def test_users_in_a_tree_go_in_the_order_of_the_oracle(
    ordering: str, case: Case, placement: str, rule: BackfillRule
) -> None:
    if parting(case, ordering, placement, rule) is not None:
        case = reduced(case, lambda case: parting(case, ordering, placement, rule) is not None)
        pytest.fail(f"{rule} {placement}: {parting(case, ordering, placement, rule)}\n{case}")


def factors(tree: tuple[Association, ...], *rows: JobRow) -> dict[str, float]:
    """Every user's factor once all these jobs, a minute long and the last later, have run."""
    late = [job(600.0, 1.0, account=row.account, user=row.user) for row in rows]
    cluster = Cluster((Node("n", 8, cpus=64),), associations=tree)
    every = [*rows, *late]
    simulation = Simulation(
        trace_of(*every), cluster, ORDERINGS["slurm-multifactor"], PLACEMENTS["best-fit"],
        Backfill.NONE, estimates_of(*every),
    )  # fmt: skip
    while simulation.advance(1):
        pass
    tables = simulation.tables
    owners = [(row.user, tables.jobs["account"][at]) for at, row in enumerate(every)]
    return {user or "": float(tables.accounts["fair_share"][at]) for user, at in owners}


PHYSICS = (Association("physics", shares=3), Association("biology", shares=1))


def user(name: str, account: str, shares: float = 1.0) -> Association:
    return Association(account, name, shares=shares)


def test_an_account_that_used_less_of_its_share_goes_first_whatever_its_users_did() -> None:
    tree = (*PHYSICS, user("ann", "physics"), user("bob", "physics"), user("cat", "biology"))
    found = factors(
        tree,
        job(0, 60, 1, cpus=8, account="physics", user="ann"),
        job(0, 60, 1, cpus=2, account="physics", user="bob"),
        job(0, 60, 1, cpus=4, account="biology", user="cat"),
    )
    # physics: 3/4 over 10/14 = 1.05; biology: 1/4 over 4/14 = 0.875.
    assert found == {"bob": 1.0, "ann": 2 / 3, "cat": 1 / 3}


def test_users_who_used_nothing_share_the_first_rank() -> None:
    tree = (*PHYSICS, user("ann", "physics"), user("bob", "biology"), user("cat", "biology"))
    rows = [job(0, 0.0, 1, cpus=1, account=a, user=u)
            for a, u in (("physics", "ann"), ("biology", "bob"), ("biology", "cat"))]  # fmt: skip
    assert set(factors(tree, *rows).values()) == {1.0}


def test_a_user_without_shares_goes_last_and_one_with_those_of_the_account_first() -> None:
    tree = (
        Association("physics"),
        user("ann", "physics", 0.0),
        user("bob", "physics"),
        user("cat", "physics", AS_PARENT),
    )
    rows = [job(0, 60, 1, cpus=1, account="physics", user=u) for u in ("ann", "bob", "cat")]
    assert factors(tree, *rows) == {"cat": 1.0, "bob": 2 / 3, "ann": 1 / 3}


def test_the_users_of_an_account_that_shares_as_its_parent_are_siblings_of_the_others_there() -> (
    None
):
    tree = (
        Association("physics"),
        Association("optics", parent="physics", shares=AS_PARENT),
        user("ann", "physics"),
        user("bob", "optics"),
    )
    rows = [
        job(0, 60, 1, cpus=4, account="physics", user="ann"),
        job(0, 60, 1, cpus=1, account="optics", user="bob"),
    ]
    assert factors(tree, *rows) == {"bob": 1.0, "ann": 0.5}


def test_jobs_of_nobody_in_the_tree_have_no_fair_share() -> None:
    tree = (*PHYSICS, user("ann", "physics"))
    found = factors(tree, job(0, 60, 1, account="physics", user="ann"),
                    job(0, 60, 1, account="chess", user="dan"))  # fmt: skip
    assert found == {"ann": 1.0, "dan": 0.0}


def test_root_may_have_users() -> None:
    tree = (*PHYSICS, user("root", ROOT), user("ann", "physics"))
    found = factors(tree, job(0, 60, 1, cpus=1, account=ROOT, user="root"),
                    job(0, 60, 1, cpus=1, account="physics", user="ann"))  # fmt: skip
    assert found == {"ann": 1.0, "root": 0.5}
