"""slurmrestd: tokens, addresses, versions, and answers of 200 that are failures."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from dovetail.domain.errors import ConfigError
from dovetail.live.backends import rest_backend
from dovetail.live.backends.base import Unreachable, Unreadable
from dovetail.live.backends.slurm.rest import RestClient, RestWriter, address_of, read_token
from dovetail.live.config import SlurmConfig
from dovetail.live.model.decision import Change, Knob, Result, Value
from tests.live.recordings import VERSIONS, rest_answers

Answer = tuple[int, Any]
Ask = Callable[[str, str, Any, Any], Answer]  # method, path, headers, body


@contextmanager
def service(path: Path, answer: Ask) -> Iterator[SlurmConfig]:
    """A web server on a socket that answers as `answer` says."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(size)) if size else None
            status, content = answer(self.command, self.path, self.headers, body)
            text = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_POST = do_GET  # noqa: N815

        def log_message(self, format: str, *args: Any) -> None: ...

        def address_string(self) -> str:
            return ""

    with socketserver.ThreadingUnixStreamServer(str(path), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield SlurmConfig(rest_url=f"unix:{path}", timeout=5)
        finally:
            server.shutdown()
            thread.join()


NEWEST = {"22.05": 38, "24.11": 42, "26.05": 45}
"""Versions of its API that each Slurm offers and we know."""
every_version = pytest.mark.parametrize("version", VERSIONS)


def slurmrestd(version: str, **instead: str) -> Ask:
    """As one of this version answered: what was asked for, or instead of it something else."""
    said = rest_answers(version)

    def answer(method: str, path: str, headers: Any, body: Any) -> Answer:
        api, _, what = path.rpartition("/")
        if path == "/openapi/v3":
            name = "GET /openapi/v3"
        elif f"/v0.0.{NEWEST[version]}" not in api:
            return 404, b""
        else:
            name = instead.get(method, "a priority" if method == "POST" else f"GET {what}")
        return said[name].status, said[name].text

    return answer


def without_list(answer: Ask) -> Ask:
    def only(method: str, path: str, headers: Any, body: Any) -> Answer:
        return (404, b"") if path == "/openapi/v3" else answer(method, path, headers, body)

    return only


@every_version
def test_the_newest_version_that_both_know_is_used(tmp_path: Path, version: str) -> None:
    with service(tmp_path / "s", slurmrestd(version)) as config:
        client = RestClient(config)
        assert len(client.get("jobs")["jobs"]) > 15
        assert client.version == NEWEST[version]


@every_version
def test_without_a_list_of_versions_they_are_tried(tmp_path: Path, version: str) -> None:
    with service(tmp_path / "s", without_list(slurmrestd(version))) as config:
        assert RestClient(config).version == NEWEST[version]


def test_a_service_without_any_known_version_is_unreadable(tmp_path: Path) -> None:
    with (
        service(tmp_path / "s", lambda *_: (404, b"no")) as config,
        pytest.raises(Unreadable, match=r"v0\.0\.36 to v0\.0\.45"),
    ):
        RestClient(config).get("jobs")


def test_errors_with_status_200_are_failures(tmp_path: Path) -> None:
    assert rest_answers("22.05")["no number"].status == 200
    with (
        service(tmp_path / "s", slurmrestd("22.05", GET="no number")) as config,
        pytest.raises(Unreachable, match="Invalid priority"),
    ):
        RestClient(config).get("jobs")


@every_version
def test_a_controller_that_is_down_is_a_failure(tmp_path: Path, version: str) -> None:
    with (
        service(tmp_path / "s", slurmrestd(version, GET="controller down")) as config,
        pytest.raises(Unreachable, match="slurmrestd"),
    ):
        RestClient(config).get("jobs")


def failing(version: str, status: int) -> Ask:
    """With nothing but a status for whatever it is asked after it was found."""

    def answer(method: str, path: str, headers: Any, body: Any) -> Answer:
        found = path == "/openapi/v3"
        return slurmrestd(version)(method, path, headers, body) if found else (status, b"")

    return answer


@pytest.mark.parametrize(("status", "word"), [(401, "rest_token_file"), (500, "answers 500")])
def test_other_statuses_are_failures(tmp_path: Path, status: int, word: str) -> None:
    with (
        service(tmp_path / "s", failing("24.11", status)) as config,
        pytest.raises(Unreachable, match=word),
    ):
        RestClient(config).get("jobs")


def test_nobody_listens(tmp_path: Path) -> None:
    with pytest.raises(Unreachable, match="is it running"):
        RestClient(SlurmConfig(rest_url=f"unix:{tmp_path}/none")).get("jobs")


def test_an_upgrade_is_noticed(tmp_path: Path) -> None:
    runs = ["24.11"]

    def answer(method: str, path: str, headers: Any, body: Any) -> Answer:
        return slurmrestd(runs[0])(method, path, headers, body)

    with service(tmp_path / "s", answer) as config:
        client = RestClient(config)
        client.get("jobs")
        runs[0] = "26.05"
        with pytest.raises(Unreachable):
            client.get("jobs")
        assert client.get("jobs")["jobs"]
        assert client.version == NEWEST["26.05"]


@pytest.mark.parametrize(("mode", "text"), [(0o644, "abc"), (0o640, "abc"), (0o600, "a\nb: c")])
def test_tokens_that_others_may_read_or_that_are_none_are_refused(
    tmp_path: Path, mode: int, text: str
) -> None:
    token = tmp_path / "token"
    token.write_text(text)
    token.chmod(mode)
    with pytest.raises(ConfigError, match="token"):
        read_token(str(token))


@pytest.mark.parametrize("url", ["", "http://slurm.example:6820", "https://127.0.0.1", "unix:x"])
def test_addresses_of_other_machines_are_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="rest_url"):
        rest_backend(SlurmConfig(rest_url=url))


def test_addresses_of_this_machine_are_taken() -> None:
    assert address_of("unix:/run/slurmrestd.sock") == ("/run/slurmrestd.sock", 0)
    assert address_of("http://127.0.0.1:6821") == ("127.0.0.1", 6821)
    assert address_of("http://localhost") == ("localhost", 6820)


class Inner:
    """A backend that only notes what it is to apply."""

    name = "rest"

    def __init__(self) -> None:
        self.seen: list[list[str]] = []

    def apply(self, changes: list[Change]) -> list[Result]:
        self.seen.append([change.label for change in changes])
        return [Result(change) for change in changes]


def change(label: str, knob: Knob, after: Value = 5) -> Change:
    return Change(1, label, knob, None, after, "")


@every_version
def test_priorities_go_through_rest_and_all_else_does_not(tmp_path: Path, version: str) -> None:
    posted, real = [], slurmrestd(version)

    def answer(method: str, path: str, headers: Any, body: Any) -> Answer:
        if method == "POST":
            posted.append((path.rsplit("/", 1)[1], body))
        return real(method, path, headers, body)

    inner = Inner()
    changes = [
        change("1", Knob.PRIORITY, None),
        change("2", Knob.PRIORITY, 70),
        change("3_[1-2]", Knob.PRIORITY, 70),
        change("4", Knob.SITE_FACTOR),
    ]
    with service(tmp_path / "s", answer) as config:
        results = RestWriter(inner, RestClient(config)).apply(changes)  # type: ignore[arg-type]
    assert [result.change for result in results] == changes
    assert all(result.done for result in results)
    sent = 70 if version == "22.05" else {"set": True, "infinite": False, "number": 70}
    assert posted == [("2", {"priority": sent})]
    assert inner.seen == [["1"], ["3_[1-2]", "4"]]


@every_version
@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("a priority of no job", "Invalid job id"),
        ("a priority too late", "Job has already finished"),
    ],
)
def test_a_refused_priority_comes_back_in_slurms_words(
    tmp_path: Path, version: str, case: str, words: str
) -> None:
    with service(tmp_path / "s", slurmrestd(version, POST=case)) as config:
        writer = RestWriter(Inner(), RestClient(config))  # type: ignore[arg-type]
        (result,) = writer.apply([change("2", Knob.PRIORITY)])
    assert not result.done
    assert words in result.error


def test_a_priority_out_of_range_is_not_posted(tmp_path: Path) -> None:
    with service(tmp_path / "s", failing("24.11", 500)) as config:
        writer = RestWriter(Inner(), RestClient(config))  # type: ignore[arg-type]
        (result,) = writer.apply([change("2", Knob.PRIORITY, 0)])
    assert result.error.startswith("not sent")
