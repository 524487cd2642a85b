"""slurmrestd: tokens, addresses, versions, and answers of 200 that are failures."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
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

Answer = tuple[int, Any]
Ask = Callable[[str, str, Any, Any], Answer]  # method, path, headers, body


@contextmanager
def service(path: Path, answer: Ask) -> Iterator[SlurmConfig]:
    """A web server on a socket that answers as `answer` says: for versions not installed here."""

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
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield SlurmConfig(rest_url=f"unix:{path}", timeout=5)
        finally:
            server.shutdown()
            thread.join()


def offering(*versions: int, rest: Ask) -> Ask:
    def answer(method: str, path: str, headers: Any, body: Any) -> Answer:
        if path == "/openapi/v3":
            return 200, {"paths": {f"/slurm/v0.0.{number}/jobs": {} for number in versions}}
        return rest(method, path, headers, body)

    return answer


def empty(method: str, path: str, headers: Any, body: Any) -> Answer:
    return 200, {"errors": [], "path": path}


def test_the_newest_version_that_both_know_is_used(tmp_path: Path) -> None:
    with service(tmp_path / "s", offering(38, 41, 44, 99, rest=empty)) as config:
        assert RestClient(config).get("jobs")["path"] == "/slurm/v0.0.44/jobs"


def test_without_a_list_of_versions_they_are_tried(tmp_path: Path) -> None:
    def only_42(method: str, path: str, headers: Any, body: Any) -> Answer:
        return empty(method, path, headers, body) if "/v0.0.42/" in path else (404, b"no")

    with service(tmp_path / "s", only_42) as config:
        assert RestClient(config).version == 42


def test_a_service_without_any_known_version_is_unreadable(tmp_path: Path) -> None:
    with (
        service(tmp_path / "s", lambda *_: (404, b"no")) as config,
        pytest.raises(Unreadable, match=r"v0\.0\.36 to v0\.0\.45"),
    ):
        RestClient(config).get("jobs")


def test_errors_with_status_200_are_failures(tmp_path: Path) -> None:
    wrong = {"errors": [{"error": "Unable to contact slurm controller"}], "jobs": []}
    with (
        service(tmp_path / "s", offering(40, rest=lambda *_: (200, wrong))) as config,
        pytest.raises(Unreachable, match="Unable to contact"),
    ):
        RestClient(config).get("jobs")


@pytest.mark.parametrize(("status", "word"), [(401, "rest_token_file"), (500, "answers 500")])
def test_other_statuses_are_failures(tmp_path: Path, status: int, word: str) -> None:
    with (
        service(tmp_path / "s", offering(40, rest=lambda *_: (status, b""))) as config,
        pytest.raises(Unreachable, match=word),
    ):
        RestClient(config).get("jobs")


def test_nobody_listens(tmp_path: Path) -> None:
    with pytest.raises(Unreachable, match="is it running"):
        RestClient(SlurmConfig(rest_url=f"unix:{tmp_path}/none")).get("jobs")


def test_an_upgrade_is_noticed(tmp_path: Path) -> None:
    offered = [40]

    def answer(method: str, path: str, headers: Any, body: Any) -> Answer:
        return empty(method, path, headers, body) if f".{offered[0]}/" in path else (404, b"no")

    def all_of_it(*question: Any) -> Answer:
        return offering(*offered, rest=answer)(*question)

    with service(tmp_path / "s", all_of_it) as config:
        client = RestClient(config)
        client.get("jobs")
        offered[0] = 43
        with pytest.raises(Unreachable):
            client.get("jobs")
        assert client.get("jobs")["path"] == "/slurm/v0.0.43/jobs"


def test_the_token_travels_with_its_user(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("SLURM_JWT=abc.def-1\n")
    token.chmod(0o600)
    seen = []

    def answer(method: str, path: str, headers: Any, body: Any) -> Answer:
        seen.append((headers["X-SLURM-USER-NAME"], headers["X-SLURM-USER-TOKEN"]))
        return 200, {"errors": []}

    with service(tmp_path / "s", offering(40, rest=answer)) as plain:
        config = SlurmConfig(
            rest_url=plain.rest_url, rest_user="dovetail", rest_token_file=str(token)
        )
        RestClient(config).get("jobs")
    assert seen == [("dovetail", "abc.def-1")]


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


def writing(tmp_path: Path, version: int, rest: Ask) -> AbstractContextManager[SlurmConfig]:
    return service(tmp_path / "s", offering(version, rest=rest))


@pytest.mark.parametrize(
    ("version", "sent"), [(38, 70), (42, {"set": True, "infinite": False, "number": 70})]
)
def test_priorities_go_through_rest_and_all_else_does_not(
    tmp_path: Path, version: int, sent: Any
) -> None:
    posted = []

    def answer(method: str, path: str, headers: Any, body: Any) -> Answer:
        posted.append((method, path.rsplit("/", 1)[1], body))
        return 200, {"errors": []}

    inner = Inner()
    changes = [
        change("1", Knob.PRIORITY, None),
        change("2", Knob.PRIORITY, 70),
        change("3_[1-2]", Knob.PRIORITY, 70),
        change("4", Knob.SITE_FACTOR),
    ]
    with writing(tmp_path, version, answer) as config:
        results = RestWriter(inner, RestClient(config)).apply(changes)  # type: ignore[arg-type]
    assert [result.change for result in results] == changes
    assert all(result.done for result in results)
    assert posted == [("POST", "2", {"priority": sent})]
    assert inner.seen == [["1"], ["3_[1-2]", "4"]]


def test_a_refused_priority_comes_back_in_slurms_words(tmp_path: Path) -> None:
    wrong = {"errors": [{"error": "Invalid job id specified"}]}
    late = {"errors": [], "results": [{"job_id": 2, "error_code": 2021, "error": "Too late"}]}
    for number, answer in enumerate((wrong, late)):
        folder = tmp_path / str(number)
        folder.mkdir()
        with writing(folder, 42, lambda *_, said=answer: (200, said)) as config:
            writer = RestWriter(Inner(), RestClient(config))  # type: ignore[arg-type]
            (result,) = writer.apply([change("2", Knob.PRIORITY)])
        assert not result.done
        assert "Invalid job id" in result.error or "Too late" in result.error


def test_a_priority_out_of_range_is_not_posted(tmp_path: Path) -> None:
    with writing(tmp_path, 42, lambda *_: (500, b"never asked")) as config:
        writer = RestWriter(Inner(), RestClient(config))  # type: ignore[arg-type]
        (result,) = writer.apply([change("2", Knob.PRIORITY, 0)])
    assert result.error.startswith("not sent")
