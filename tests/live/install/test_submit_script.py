"""The submit script inside a real slurmctld: tags, first factors, and no job ever refused by it."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dovetail.live.install.native import native_text, rendered
from dovetail.live.service.first_factors import (
    FILE,
    FirstFactor,
    remove_first_factors,
    write_first_factors,
)
from tests.live.slurm import SMALL_LAYOUT, Cluster, Options, Partition, why_not

OPTIONS = Options(nodes=SMALL_LAYOUT, partitions=(Partition("gpu"), Partition("prod")))
ROWS = (FirstFactor("gpu", 0, 5), FirstFactor("gpu", 2, 2000), FirstFactor("gpu", 4, -20))
SETTINGS = "partition prod\naccount hospital\nthis line says nothing\n"
SITE_SCRIPT = """
function slurm_job_submit(job, partitions, uid)
  job.admin_comment = "site"
  if job.name == "refuse me" then return slurm.ERROR end
  return slurm.SUCCESS
end
function slurm_job_modify(job, record, partitions, uid) return slurm.SUCCESS end
"""


def script_text(folder: Path, script: Path) -> str:
    values = {
        "script": str(script),
        "run_dir": str(folder / "run"),
        "settings": str(folder / "submit.conf"),
    }
    return rendered("job_submit.lua", values)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("native")
    (folder / "run").mkdir()
    (folder / "submit.conf").write_text(native_text("submit.conf") + SETTINGS)
    (folder / "dovetail_submit.lua").write_text(native_text("dovetail_submit.lua"))
    text = script_text(folder, folder / "dovetail_submit.lua")
    (folder / "job_submit.lua").write_text(text)
    return folder


@pytest.fixture(scope="module")
def full(folder: Path) -> Iterator[Cluster]:
    """A cluster with the submit script whose GPUs are all taken."""
    options = Options(
        nodes=OPTIONS.nodes,
        partitions=OPTIONS.partitions,
        job_submit_lua=folder / "job_submit.lua",
    )
    if (reason := why_not(options)) is not None:
        pytest.skip(reason)
    with Cluster(options) as cluster:
        taken = [
            cluster.submit(gpus=group.gpus, seconds=600, gpu_type=group.gpu, extra=("--exclusive",))
            for group in SMALL_LAYOUT
            for _ in range(group.count)
        ]
        cluster.wait_for("RUNNING", *taken)
        yield cluster


@pytest.fixture(autouse=True)
def no_table(folder: Path) -> Iterator[None]:
    yield
    remove_first_factors(folder / "run")


def tags(cluster: Cluster, job: int) -> str:
    # Not from `scontrol show job`: names with line ends forge fields there.
    said = cluster.run(["squeue", "-h", "-j", str(job), "-O", "admin_comment:200"]).stdout
    return said.strip().replace("(null)", "")


def factor_of(cluster: Cluster, job: int) -> int:
    """sprio shows a job only after the scheduler's first look at it."""
    cluster.wait_until(lambda: job in cluster.site_factors())
    return cluster.site_factors()[job]


def test_jobs_are_tagged_by_what_they_are(full: Cluster) -> None:
    training = full.submit(gpus=1, name="resnet")
    inference = full.submit(gpus=1, name="My-vLLM-server")
    notebook = full.submit(gpus=0, name="JupyterLab")
    without_gpu = full.submit(gpus=0, name="compile")

    assert tags(full, training) == "dovetail:kind=training"
    assert tags(full, inference) == "dovetail:kind=inference"
    assert tags(full, notebook) == "dovetail:kind=interactive"
    assert tags(full, without_gpu) == ""


def test_jobs_without_a_script_are_interactive(full: Cluster) -> None:
    waiting = subprocess.Popen(
        ["salloc", "--gres=gpu:1", "--job-name=shell", "true"],
        env=full.env, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        words = ["squeue", "-h", "-n", "shell", "-t", "PD", "-O", "admin_comment:60"]
        full.wait_until(lambda: "dovetail:kind=interactive" in full.run(words).stdout)
    finally:
        full.run(["scancel", "--name=shell"])
        waiting.wait(timeout=30)


def test_promised_partitions_and_accounts_are_tagged_and_get_no_factor(
    full: Cluster, folder: Path
) -> None:
    write_first_factors(folder / "run", [*ROWS, FirstFactor("prod", 0, 77)], 60.0)
    by_partition = full.submit(partition="prod")
    by_one_of_several = full.submit(partition="gpu,prod")
    by_account = full.submit(extra=("--account=hospital",))
    for job in (by_partition, by_one_of_several, by_account):
        assert tags(full, job) == "dovetail:kind=training dovetail:sla"
        assert factor_of(full, job) == 0


@pytest.mark.parametrize(
    ("asks", "factor"),
    [
        (("--gres=gpu:1",), 5),
        (("--gres=gpu:p100:3",), 2000),
        (("--gres=gpu",), 5),
        (("--gpus=7",), -20),
        (("--nodes=2", "--gres=gpu:1"), 2000),
        (("--ntasks=3", "--gpus-per-task=1"), 2000),
        (("--nodes=2", "--gpus-per-node=2"), -20),
    ],
)
def test_new_jobs_get_the_factor_of_the_most_gpus_that_they_reach(
    full: Cluster, folder: Path, asks: tuple[str, ...], factor: int
) -> None:
    write_first_factors(folder / "run", ROWS, 60.0)
    job = full.submit(gpus=0, extra=asks)
    assert factor_of(full, job) == factor


def test_arrays_and_other_users_get_factors_as_well(full: Cluster, folder: Path) -> None:
    write_first_factors(folder / "run", ROWS, 60.0)
    array = full.submit(gpus=2, extra=("--array=1-3",))
    assert factor_of(full, array) == 2000
    if os.geteuid() == 0:
        as_another = ["setpriv", "--reuid=games", "--clear-groups", "sbatch", "--parsable"]
        words = ["--chdir=/tmp", "--output=/dev/null", "--gres=gpu:4", "--wrap=true"]
        job = int(full.run([*as_another, *words]).stdout)
        assert factor_of(full, job) == -20
        assert tags(full, job) == "dovetail:kind=training dovetail:first=-20"


def test_a_new_table_counts_at_once(full: Cluster, folder: Path) -> None:
    for factor in (100, 200):
        write_first_factors(folder / "run", [FirstFactor("gpu", 0, factor)], 60.0)
        assert factor_of(full, full.submit()) == factor
    remove_first_factors(folder / "run")
    assert factor_of(full, full.submit()) == 0


def test_a_table_that_nobody_renews_says_nothing_after_its_time(
    full: Cluster, folder: Path
) -> None:
    write_first_factors(folder / "run", [FirstFactor("gpu", 0, 300)], 2.0)
    assert factor_of(full, full.submit()) == 300
    time.sleep(4.0)
    assert factor_of(full, full.submit()) == 0  # the same file, read before


GOOD_HEAD = "dovetail-first-factors 2 {serial} 99999999999\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\0" * 5000,
        "dovetail-first-factors 1 1\ngpu 0 7\nend\n",
        "dovetail-first-factors 2 1 1000000000\ngpu 0 7\nend\n",
        GOOD_HEAD + "gpu 0 7\n",  # cut off
        GOOD_HEAD + "gpu 0 7\nend",
        GOOD_HEAD + "gpu 0 7\nend\ngpu 0 8\n",
        GOOD_HEAD + "gpu 0 99999999999\nend\n",
        GOOD_HEAD + "gpu 0 1e3\nend\n",
        GOOD_HEAD + "gpu 0 7\ngpu -1 7\nend\n",
        GOOD_HEAD + "gpu 0 7 extra\nend\n",
        GOOD_HEAD + "gpu 0 7\n\nend\n",
        GOOD_HEAD + "gpu 0 7\n" * 20_000 + "end\n",  # too large
        GOOD_HEAD + "os.execute('touch /tmp/x') 0 7\nend",
    ],
    ids=range(14),
)
def test_a_broken_table_is_ignored(full: Cluster, folder: Path, text: str) -> None:
    (folder / "run" / FILE).write_text(text.replace("{serial}", str(abs(hash(text)))))
    job = full.submit()
    assert factor_of(full, job) == 0
    assert tags(full, job) == "dovetail:kind=training"


def test_a_folder_in_the_place_of_the_table_is_ignored(full: Cluster, folder: Path) -> None:
    (folder / "run" / FILE).mkdir()
    try:
        assert factor_of(full, full.submit()) == 0
    finally:
        (folder / "run" / FILE).rmdir()


@pytest.mark.parametrize(
    "name",
    [
        "%s%n%d%s",
        "a\nAdminComment=dovetail:sla",
        "$(touch x)`touch y`;'\"",
        "dovetail:sla",
        "x" * 1000,
        "in" * 400 + "fer",
        "日本語 ☃ \x1b[2J",
        "[%a-",
    ],
)
def test_hostile_names_are_neither_refused_nor_copied(full: Cluster, name: str) -> None:
    job = full.submit(gpus=1, name=name)
    assert tags(full, job) == "dovetail:kind=training"


def put(cluster: Cluster, script: str) -> None:
    """Give the controller another job_submit.lua; it looks at the time of the file."""
    path = cluster.layout.slurm_conf.parent / "job_submit.lua"
    later = path.stat().st_mtime + 10
    path.write_text(script)
    os.utime(path, (later, later))


def test_a_sites_own_script_is_asked_first_and_its_refusal_stands(
    full: Cluster, folder: Path
) -> None:
    ours = script_text(folder, folder / "dovetail_submit.lua")
    line = ours.splitlines()[-1]
    try:
        put(full, SITE_SCRIPT + line)
        assert tags(full, full.submit(gpus=1)) == "site dovetail:kind=training"
        refused = full.run(["sbatch", "--job-name=refuse me", "--wrap=true"], check=False)
        assert refused.returncode != 0
    finally:
        put(full, ours)


@pytest.mark.parametrize("broken", [None, "this is not Lua", "error('no')"])
def test_jobs_are_accepted_although_our_script_is_missing_or_broken(
    full: Cluster, folder: Path, tmp_path: Path, broken: str | None
) -> None:
    script = tmp_path / "broken.lua"
    if broken is not None:
        script.write_text(broken)
    try:
        put(full, script_text(folder, script))
        assert tags(full, full.submit(gpus=1)) == ""
    finally:
        put(full, script_text(folder, folder / "dovetail_submit.lua"))
    assert tags(full, full.submit(gpus=1)) == "dovetail:kind=training"
