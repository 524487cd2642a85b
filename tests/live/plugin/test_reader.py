"""The plug-in's reader under sanitizers: what it takes, and what it makes of strangers' bytes."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dovetail.live.plugin import table as module
from dovetail.live.plugin.table import FactorRow, FactorTable, decode, encode, write_table

SOURCE = Path(module.__file__).parent / "source"
WRITTEN, SECONDS = 1_000_000, 300
CHECKSUM, HEADER = 36, 40


class Reader:
    """The reader of the C source, in a process of its own that sanitizers watch."""

    def __init__(self, program: Path, path: Path, now: int = WRITTEN, owner: int = 0) -> None:
        self.path = path
        self._process = subprocess.Popen(
            [program, path, str(owner), str(now)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.first = self._line()

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline().rstrip("\n")
        if not line:
            raise AssertionError(self._process.communicate()[1][:3000])
        return line

    def ask(self, words: str) -> str:
        assert self._process.stdin is not None
        print(words, file=self._process.stdin, flush=True)
        return self._line()

    def reload(self) -> str:
        return self.ask(f"load {self.path}")

    def verdicts(self, contents: Sequence[bytes], then: str = "") -> list[str]:
        """What it says of each table, and after `then`, asked of each; one turn for all."""
        assert self._process.stdin is not None
        for number, content in enumerate(contents):
            put(self.path.with_name(f"{number}"), content)
        lines = [f"load {self.path.with_name(str(n))}\n{then}" for n in range(len(contents))]
        asking = Thread(
            target=lambda: print("\n".join(lines), file=self._process.stdin, flush=True)
        )
        asking.start()
        said = [self._line() for _ in range(len(contents) * (2 if then else 1))]
        asking.join()
        return said

    def factor(self, job: int, array: int = 0, current: int = 0, without: int = 0) -> int:
        return int(self.ask(f"{job} {array} {current} {without}").split()[1])

    def gave(self, job: int, current: int, array: int = 0) -> bool:
        return self.ask(f"{job} {array} {current} 0").split()[0] == "1"

    def close(self) -> None:
        """The end; AssertionError where a sanitizer has something to say."""
        said, complaints = self._process.communicate("", timeout=10)
        assert (self._process.returncode, said, complaints) == (0, "", "")


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("gcc") is None:
        pytest.skip("no gcc; on Debian: apt install gcc libc6-dev")
    target = tmp_path_factory.mktemp("harness") / "harness"
    words = ["gcc", "-std=gnu11", "-g", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
    words += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", f"-I{SOURCE}"]
    sources = [Path(__file__).with_name("harness.c"), SOURCE / "factor_table.c"]
    subprocess.run([*words, *sources, "-o", target], check=True, timeout=120)
    return target


@pytest.fixture
def reader(program: Path, tmp_path: Path) -> Iterator[Reader]:
    each = Reader(program, tmp_path / "factors")
    assert each.first == "there is none"
    yield each
    each.close()


FACTORS = st.integers(-module.MOST_FACTOR, module.MOST_FACTOR)
ROWS = st.lists(
    st.builds(FactorRow, st.integers(1, 2**32 - 1), FACTORS, FACTORS, st.integers(0, 2 * SECONDS)),
    unique_by=lambda row: row.job,
    max_size=40,
)
WATCHED = settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60
)


@WATCHED
@given(ROWS, FACTORS, st.integers(0, SECONDS), st.data())
def test_the_reader_gives_what_the_rows_say(
    program: Path,
    tmp_path: Path,
    rows: list[FactorRow],
    default: int,
    age: int,
    data: st.DataObject,
) -> None:
    content = encode(FactorTable(rows, WRITTEN, SECONDS, default))
    (tmp_path / "factors").write_bytes(content)
    (tmp_path / "factors").chmod(0o644)
    assert decode(content) == FactorTable(sorted(rows), WRITTEN, SECONDS, default)
    jobs = {row.job: row for row in rows}
    asked = data.draw(st.lists(st.sampled_from([*jobs, 5, 2**32 - 1]), max_size=5))
    reader = Reader(program, tmp_path / "factors", WRITTEN + age)
    assert reader.first == "sound"
    for job in asked:
        row = jobs.get(job)
        alive = age < SECONDS and (row is None or age < row.seconds)
        expected = (row.factor if row else 11) if alive else 0
        assert reader.factor(job, without=11) == expected
        assert reader.gave(job, current=default)
        if row is not None:
            assert reader.gave(job, row.factor)
            assert reader.gave(job, row.held)
            assert reader.gave(3, row.factor, array=job)
            assert not reader.gave(job, 2**31 + 1)
    reader.close()


def test_a_task_goes_by_its_array_until_it_has_a_row_of_its_own(reader: Reader) -> None:
    write_table(reader.path, FactorTable([FactorRow(10, 5), FactorRow(12, 9)], WRITTEN, SECONDS))
    assert reader.reload() == "sound"
    assert [reader.factor(job, array=10) for job in (10, 11, 12)] == [5, 5, 9]


def a_table() -> bytes:
    rows = [FactorRow(job, 50 * job + 37, job) for job in range(1, 30)]
    return encode(FactorTable(rows, WRITTEN, SECONDS))


def put(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    path.chmod(0o644)


def test_no_table_that_was_cut_off_anywhere_is_taken(reader: Reader) -> None:
    content = a_table()
    said = reader.verdicts([content[:length] for length in range(len(content))], "3 0 0 8")
    assert "sound" not in said[::2]
    assert set(said[1::2]) == {"1 0"}  # factor 0, though a job without a row would have had 8
    put(reader.path, content + b"\0" * 16)
    assert reader.reload() == "its size does not fit its rows"


def flipped(content: bytes, bit: int) -> bytes:
    damaged = bytearray(content)
    damaged[bit // 8] ^= 1 << bit % 8
    return bytes(damaged)


def test_no_single_bit_can_be_wrong(reader: Reader) -> None:
    content = a_table()
    said = reader.verdicts([flipped(content, bit) for bit in range(8 * len(content))])
    assert "sound" not in said


def signed(content: bytes) -> bytes:
    """With the checksum that belongs to it: only the other checks are left."""
    checksum = zlib.crc32(content[HEADER:], zlib.crc32(content[:CHECKSUM]))
    return content[:CHECKSUM] + checksum.to_bytes(4, "little") + content[HEADER:]


def fuzzed(chance: random.Random, content: bytes) -> bytes:
    damaged = bytearray(content[: chance.choice([len(content), HEADER, HEADER + 16 * 7])])
    for _ in range(chance.randint(1, 6)):
        damaged[chance.randrange(8, len(damaged))] = chance.choice([0, 1, 127, 128, 255])
    return signed(bytes(damaged))


def test_fuzzed_tables_with_a_true_checksum_never_break_the_reader(reader: Reader) -> None:
    chance, content = random.Random(1), a_table()
    tables = [fuzzed(chance, content) for _ in range(10_000)]
    said = reader.verdicts(tables, "3 0 0 0")
    taken = [n for n, words in enumerate(said[::2]) if words == "sound"]
    assert 0 < len(taken) < len(tables)
    for n in taken:
        factor = int(said[2 * n + 1].split()[1])
        rows = {row.job: row for row in decode(tables[n]).rows}
        assert factor in (0, rows[3].factor if 3 in rows else 0)


def test_a_table_says_for_itself_what_is_wrong_with_it(reader: Reader) -> None:
    def says(content: bytes) -> str:
        put(reader.path, signed(content))
        return reader.reload()

    sound = a_table()
    assert says(sound) == "sound"
    assert says(b"x" + sound[1:]) == "it is no table of Dovetail's"
    assert says(sound[:8] + b"\2" + sound[9:]) == "it is of another version"
    assert says(sound[:HEADER] + sound[56:72] + sound[HEADER:56] + sound[72:]) == (
        "its rows are not in order"
    )
    future = encode(FactorTable([], WRITTEN + 61, SECONDS))
    assert says(future) == "its time is not plausible"
    assert says(sound[:24] + b"\xff\xff\xff\x7f" + sound[28:]) == "its time is not plausible"
    assert says(sound[:28] + b"\0\0\0\x80" + sound[32:]) == "its default is out of range"


def test_files_that_somebody_else_could_have_written_are_not_read(reader: Reader) -> None:
    put(reader.path, a_table())
    assert reader.reload() == "sound"
    reader.path.chmod(0o664)
    assert reader.reload() == "others may write it"
    reader.path.chmod(0o646)
    assert reader.reload() == "others may write it"
    reader.path.unlink()
    os.mkfifo(reader.path)
    assert reader.reload() == "it is no plain file"
    reader.path.unlink()
    reader.path.mkdir()
    assert reader.reload() == "it is no plain file"
    reader.path.rmdir()
    reader.path.symlink_to("/dev/zero")
    assert reader.reload() == "it cannot be opened"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_table_of_another_account_counts_only_where_it_is_named(
    program: Path, tmp_path: Path
) -> None:
    path = tmp_path / "factors"
    put(path, a_table())
    os.chown(path, 4321, 4321)
    for owner, said in ((0, "it belongs to somebody else"), (4321, "sound")):
        reader = Reader(program, path, owner=owner)
        assert reader.first == said
        reader.close()


WRITER = """
import sys
from pathlib import Path
from dovetail.live.plugin.table import FactorRow, FactorTable, write_table
factor = 0
while True:
    factor = 37 if factor == 87 else 87
    rows = [FactorRow(job, factor) for job in range(1, 20_001)]
    write_table(Path(sys.argv[1]), FactorTable(rows, 1_000_000, 300))
    print(factor, flush=True)
"""


def test_a_writer_that_is_killed_leaves_the_old_table_or_the_new_one(reader: Reader) -> None:
    chance = random.Random(2)
    for _ in range(12):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, reader.path], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        process.stdout.readline()
        try:
            until = time.monotonic() + chance.uniform(0.05, 0.2)
            while time.monotonic() < until:
                assert reader.reload() == "sound"
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
            process.stdout.close()
        assert reader.reload() == "sound"
        assert reader.factor(1) == reader.factor(20_000) != 0
