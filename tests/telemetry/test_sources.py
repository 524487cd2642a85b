"""Readings from exporters, a real Prometheus, recordings and the driver."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from dovetail.domain.errors import UnknownName
from dovetail.telemetry import ReadingFault, SourceError, check, held_by_labels, open_source
from dovetail.telemetry.readings import GpuName, Readings, ReadingsBuilder
from dovetail.telemetry.sources.exporter import Exporters
from dovetail.telemetry.sources.exposition import ExpositionReader, parse_labels
from dovetail.telemetry.sources.prometheus import Prometheus
from dovetail.telemetry.sources.recording import Recording
from tests.telemetry.exporter import PROMETHEUS, dcgm, exporting, scraping


def read(text: str, host: str = "", now: float = 100.0) -> Readings:
    builder = ReadingsBuilder(now)
    ExpositionReader().read(text, builder, host)
    return builder.build()


def test_dcgm_names_and_labels_become_quantities() -> None:
    found = read("# HELP DCGM_FI_DEV_GPU_UTIL x\n" + dcgm("n1", 3, 75.0, 61.0, ',hpc_job="17"'))
    assert found.gpus == (GpuName("n1", "3"),)
    assert found.labels[0].model == "NVIDIA A100-SXM4-80GB"
    assert found.labels[0].job == "17"
    assert found.column("utilisation").tolist() == [0.75]
    assert found.column("temperature").tolist() == [61.0]
    assert found.column("memory_used").tolist() == [1024.0]


def test_each_instance_of_a_cut_gpu_has_a_row() -> None:
    text = dcgm("n1", 0, 10, more=',GPU_I_PROFILE="1g.10gb",GPU_I_ID="7"')
    text += dcgm("n1", 0, 20, more=',GPU_I_PROFILE="2g.20gb",GPU_I_ID="3"')
    found = read(text)
    pairs = zip(found.gpus, found.labels, strict=True)
    assert [(gpu.slot, labels.profile) for gpu, labels in pairs] == [
        ("0.7", "1g.10gb"),
        ("0.3", "2g.20gb"),
    ]


def test_amd_names() -> None:
    labels = 'card_series="AMD Instinct MI300X",gpu_id="2",gpu_partition_id="0",hostname="tw038"'
    labels += ',job_id="8"'
    found = read(
        f"gpu_gfx_activity{{{labels}}} 40\namd_gpu_used_vram{{{labels}}} 512\n"
        f"gpu_package_power{{{labels}}} 300\n"
    )
    assert found.gpus == (GpuName("tw038", "2"),)
    assert found.labels[0].job == "8"
    assert found.column("utilisation").tolist() == [0.4]
    assert found.column("memory_used").tolist() == [512.0]
    assert found.column("power").tolist() == [300.0]


def test_jobstats_names_and_the_job_as_a_value() -> None:
    labels = 'minor_number="0",name="NVIDIA A100",uuid="GPU-d6"'
    found = read(
        f"nvidia_gpu_duty_cycle{{{labels}}} 50\nnvidia_gpu_jobId{{{labels}}} 3.4853925e+07\n"
        f"nvidia_gpu_memory_used_bytes{{{labels}}} 1048576\n"
        f"nvidia_gpu_power_usage_milliwatts{{{labels}}} 250000\n",
        host="della-1",
    )
    assert found.gpus == (GpuName("della-1", "0"),)
    assert found.labels[0].job == "34853925"
    assert found.column("power").tolist() == [250.0]
    assert found.column("memory_used").tolist() == [1.0]
    assert held_by_labels(found)[0].indices == ("0",)


def test_dcgms_blank_values_are_missing_not_out_of_range() -> None:
    text = dcgm("n1", 0, 2147483632) + dcgm("n1", 1, 50.0)
    text += dcgm("n1", 2, 9223372036854775794)
    checked = check(read(text))
    assert checked.faults == {(ReadingFault.MISSING, "utilisation"): 2}


def test_lines_that_cannot_be_read_are_counted() -> None:
    text = 'DCGM_FI_DEV_GPU_UTIL{gpu="0",Hostname="n1" 5\nDCGM_FI_DEV_GPU_UTIL{gpu="0"} 5\n'
    text += 'DCGM_FI_DEV_GPU_UTIL{gpu="0",Hostname="n1"} five\n' + dcgm("n1", 0, 5)
    found = read(text)
    assert found.unreadable == {"unreadable lines": 3}
    assert found.column("utilisation").tolist() == [0.05]


# Names with two underscores in front are Prometheus' own; its parser refuses them.
names = st.from_regex(r"[a-zA-Z][a-zA-Z0-9_]{0,6}", fullmatch=True)


@given(st.dictionaries(names, st.text(max_size=8), min_size=1, max_size=5), st.booleans())
def test_labels_are_read_as_prometheus_own_parser_reads_them(
    labels: dict[str, str], trailing: bool
) -> None:
    def escaped(value: str) -> str:
        return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")

    text = ",".join(f'{key}="{escaped(value)}"' for key, value in labels.items())
    text += "," if trailing else ""
    (family,) = text_string_to_metric_families(f"gpu{{{text}}} 0\n")
    assert parse_labels(text) == family.samples[0].labels == labels


@given(st.text(alphabet='ab="\\,{} \t', max_size=20))
def test_no_text_for_labels_breaks_the_reader(text: str) -> None:
    read(f"DCGM_FI_DEV_GPU_UTIL{{{text}}} 5\n")


def test_an_exporter_that_does_not_answer_is_counted_and_none_is_an_error() -> None:
    with exporting(dcgm("n1", 0, 50)) as good, exporting() as bad:
        bad.code = 500
        found = Exporters([good.url, bad.url]).read()
        assert len(found) == 1
        assert found.unreadable == {"exporters that do not answer": 1}
        with pytest.raises(SourceError, match="answered 500"):
            Exporters([bad.url]).read()
    with pytest.raises(SourceError, match="cannot be reached"):
        Exporters([good.url]).read()


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://x/", "http://", "http://x:0/", "x"])
def test_only_web_addresses_are_fetched(url: str) -> None:
    with pytest.raises(SourceError):
        Exporters([url])


def test_a_redirect_is_not_followed() -> None:
    with exporting() as exporter:
        exporter.code = 302
        with pytest.raises(SourceError, match="302"):
            Exporters([exporter.url]).read()


def test_unknown_sources_are_answered_in_words() -> None:
    with pytest.raises(UnknownName, match="did you mean 'prometheus'"):
        open_source("promethus:http://x")
    with pytest.raises(SourceError, match="prometheus:http"):
        open_source("http://x:9090")


def test_the_driver_on_a_node_without_gpus_is_an_error_in_words() -> None:
    pytest.importorskip("pynvml")
    if Path("/dev/nvidia0").exists():
        assert len(open_source("nvml:").read()) > 0
    else:
        with pytest.raises(SourceError, match="does not answer"):
            open_source("nvml:").read()


@pytest.mark.skipif(PROMETHEUS is None, reason="prometheus is not installed")
def test_a_real_prometheus_gives_values_with_the_time_of_each_sample(tmp_path: Path) -> None:
    with exporting() as one, exporting() as two:
        one.page = dcgm("n1", 0, 90, 70) + dcgm("n1", 1, 0, 35, ',hpc_job="17"')
        two.page = dcgm("n2", 0, 50)
        with scraping(tmp_path, one.address, two.address) as url:
            source = Prometheus(url)
            found = _until(source, lambda readings: len(readings) == 3)
            used = dict(zip(found.gpus, found.column("utilisation").tolist(), strict=True))
            assert used == {
                GpuName("n1", "0"): 0.9,
                GpuName("n1", "1"): 0.0,
                GpuName("n2", "0"): 0.5,
            }
            assert all(abs(found.time - found.taken) < 30.0)
            assert not check(found).faults
            # n1's second GPU has been idle since it was first seen; the first is busy now.
            time.sleep(2.5)
            busy = source.last_busy(above=0.05, hours=0.1)
            assert busy[GpuName("n1", "0")] > busy[GpuName("n1", "1")] > found.time - 60.0
            two.code = 500
            _until(source, lambda readings: len(readings) == 2)


@pytest.mark.skipif(PROMETHEUS is None, reason="prometheus is not installed")
def test_what_prometheus_refuses_is_told_in_its_words(tmp_path: Path) -> None:
    with exporting() as exporter, scraping(tmp_path, exporter.address) as url:
        with pytest.raises(SourceError, match="404"):
            Prometheus(url + "/nowhere").read()
        assert len(Prometheus(url).read()) == 0


def _until(source: Prometheus, good: object) -> Readings:
    assert callable(good)
    end = time.monotonic() + 60.0
    while time.monotonic() < end:
        found = source.read()
        if good(found):
            return found
        time.sleep(0.3)
    raise AssertionError(f"never came: {found}")


PHILLY = """time,machineId,gpu0_util,gpu1_util
2017-10-03 00:15:00 PDT,m1,98.5,0.0
2017-10-03 00:15:00 PDT,m2,12.0,NA
2017-10-03 00:16:00 PDT,m1,99.0,1.0
"""


def test_phillys_recording_is_replayed_moment_by_moment(tmp_path: Path) -> None:
    path = tmp_path / "cluster_gpu_util"
    path.write_text(PHILLY)
    moments = list(Recording(path).replay())
    assert [moment.time for moment in moments] == [1507014900.0, 1507014960.0]
    assert moments[0].gpus == (GpuName("m1", "0"), GpuName("m2", "0"), GpuName("m1", "1"))
    assert moments[0].column("utilisation").tolist() == [0.985, 0.12, 0.0]
    assert Recording(path).read().column("utilisation").tolist() == [0.99, 0.01]


def test_the_hour_that_autumn_repeats_goes_by_the_zones_letters(tmp_path: Path) -> None:
    path = tmp_path / "util.csv"
    path.write_text(
        "time,machineId,gpu0_util\n2017-11-05 01:30:00 PST,m1,20\n2017-11-05 01:30:00 PDT,m1,10\n"
    )
    assert [moment.column("utilisation")[0] for moment in Recording(path).replay()] == [0.1, 0.2]


def test_our_own_columns_are_read_and_bad_rows_refused(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("time,host,gpu,utilisation,power\n60,n1,0,0.5,210\n")
    found = Recording(path).read()
    assert (found.time, found.column("power").tolist()) == (60.0, [210.0])
    path.write_text("time,host,gpu,utilisation\nnoon,n1,0,0.5\n")
    with pytest.raises(SourceError, match="1 readings without a time"):
        Recording(path)
    path.write_text("when,where\n1,2\n")
    with pytest.raises(SourceError, match="expected the columns"):
        Recording(path)
    path.write_text("time,host,gpu,utilisation\n")
    with pytest.raises(SourceError, match="no readings"):
        Recording(path)
