"""The server as anybody can reach it: answers, refusals, limits, and its end."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from explorer.running import serve
from sapwood.cli import main
from sapwood.errors import ParameterError
from sapwood.explorer.server import _PAGE

JSON = {"Content-Type": "application/json"}
QUESTION = {"text": "Who fed the cat ?", "model": "questions"}
# Its fragments are so many that the search for the heaviest takes minutes.
ENDLESS = "(S " + " ".join("(A (B x))" for _ in range(480)) + ")"
# More than a second and a half; nothing that the limits of size admit takes much longer.
SLOW = {"first": ENDLESS, "second": ENDLESS, "kernel": "SubsetTree", "curves": True}


def test_page_comes_whole_and_asks_nobody_else(served):
    total = 0
    status, headers, page = served.ask("GET", "/")
    assert status == 200
    assert headers["content-type"] == "text/html; charset=utf-8"
    found = set(re.findall(rb'(?:src|href)="([^"]+)"', page))
    assert {path.decode() for path in found} == {f"/{path.name}" for path in _PAGE.iterdir()} - {"/index.html"}
    for path in sorted(_PAGE.iterdir()):
        status, headers, body = served.ask("GET", f"/{path.name}")
        assert (status, body) == (200, path.read_bytes())
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        total += len(body)
        text = body.decode()
        # No address of another machine; the namespace of SVG is a name, not an address.
        assert re.findall(r"https?://", text.replace("http://www.w3.org/2000/svg", "")) == []
        for danger in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "style=", "onclick="):
            assert danger not in text, (path, danger)
        # Modules ask for each other by path, and all of them are there.
        for module in re.findall(r'from "(/[^"]+)"', text):
            assert (_PAGE / module[1:]).exists()
    assert total < 500_000


def test_each_panel_is_answered(served):
    status, headers, body = served.ask("GET", "/api/contents")
    assert status == 200
    assert headers["content-type"].startswith("application/json")
    assert {model["name"] for model in json.loads(body)["models"]} >= {"parser", "questions", "damaged"}
    status, found = served.post("/api/analyze", QUESTION)
    assert (status, found["classes"][0]["label"]) == (200, "HUM:ind")
    status, found = served.post("/api/compare", {"first": "(A b)", "second": "(A b)", "kernel": "SubsetTree"})
    assert (status, found["table"][1]["normalized"]) == (200, 1.0)
    problem = {"words": ["a"], "roles": ["r", "s"], "spans": [[0, 0]], "scores": [[1.0], [2.0]]}
    status, found = served.post("/api/decode", problem)
    assert status == 200
    assert [one["assignment"] for one in found["methods"]] == [[0, 0], [None, 0], [None, 0], [None, 0]]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("damaged", "truncated"),
        ("linked", "link out of the folder"),
        ("../secret", "there is no model"),
        ("/etc/passwd", "there is no model"),
        ("..%2fsecret", "there is no model"),
    ],
)
def test_models_that_cannot_be_had_are_refused(served, name, says):
    status, found = served.post("/api/analyze", {"text": "Who ran ?", "model": name})
    assert status == 422
    assert says in found["error"]["message"]


@pytest.mark.parametrize(
    "path",
    [
        "/../server.py",
        "/server.py",
        "/%2e%2e/server.py",
        "//etc/passwd",
        "/page/main.js",
        "/api/analyze",
        "/favicon.ico",
    ],
)
def test_files_of_a_fixed_list_are_served_and_no_others(served, path):
    status, _, body = served.ask("GET", path)
    assert (status, json.loads(body)["error"]["kind"]) == (404, "unknown")


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "status"),
    [
        ("POST", "/api/analyze", b"{", JSON, 400),
        ("POST", "/api/analyze", b"[]", JSON, 400),
        ("POST", "/api/analyze", b"\xff\xfe", JSON, 400),
        ("POST", "/api/analyze", b"[" * 100_000, JSON, 400),
        ("POST", "/api/analyze", b"{}", JSON, 422),
        ("POST", "/api/analyze", b"{}", {"Content-Type": "text/plain"}, 415),
        ("POST", "/api/analyze", b"text=x", {"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ("POST", "/api/nothing", b"{}", JSON, 404),
        ("POST", "/analyze", b"{}", JSON, 404),
        ("POST", "/api/analyze", b"x" * 1_000_001, JSON, 413),
        ("PUT", "/api/analyze", b"{}", JSON, 501),
        ("DELETE", "/", None, {}, 501),
        ("GET", "/" + "x" * 70_000, None, {}, 414),
    ],
)
def test_requests_that_are_not_understood_get_an_error_as_json(served, method, path, body, headers, status):
    found, kinds, answer = served.ask(method, path, body, headers)
    assert found == status
    assert kinds["content-type"].startswith("application/json")
    assert set(json.loads(answer)) == {"error"}


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", ""]
)
def test_other_names_for_this_machine_are_not_answered(served, host):
    for method, path, body in (("GET", "/", None), ("GET", "/api/contents", None), ("POST", "/api/analyze", b"{}")):
        status, _, answer = served.ask(method, path, body, {**JSON, "Host": host})
        assert (status, json.loads(answer)["error"]["kind"]) == (403, "host")


def test_questions_of_other_pages_are_not_answered(served):
    host = urlsplit(served.url).netloc
    for headers in (
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": f"https://{host}"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ):
        assert served.post("/api/analyze", QUESTION, **headers)[0] == 403, headers
    for headers in ({"Origin": f"http://{host}"}, {"Origin": f"http://{host}", "Sec-Fetch-Site": "same-origin"}, {}):
        assert served.post("/api/analyze", QUESTION, **headers)[0] == 200, headers


@pytest.mark.parametrize(
    "sent",
    [
        b"\x00\xff\x00\xff\r\n\r\n",
        b"GET\r\n\r\n",
        b"POST /api/analyze HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /api/analyze HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /api/analyze HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        b"POST /api/analyze HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 200 + b"\r\n",
    ],
)
def test_broken_requests_do_no_harm(served, sent):
    place = urlsplit(served.url)
    with socket.create_connection((place.hostname, place.port), timeout=20) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        connection.recv(65536)
    assert served.post("/api/analyze", QUESTION)[0] == 200


def test_hostile_sentences_come_back_as_they_are(served):
    text = "<script>alert(1)</script> & \"quotes\" 'שלום' \u202e !"
    status, found = served.post("/api/analyze", {"text": text, "model": "parser"})
    assert status == 200
    assert "".join(found["words"]).startswith("<script>alert-LRB-1-RRB-</script>")
    assert "שלום" in found["words"]
    status, found = served.post("/api/analyze", {"text": "x" * 100_000, "model": "parser"})
    assert (status, found["error"]["kind"]) == (422, "input")
    assert "100,000 characters" in found["error"]["message"]


def test_two_users_at_once_get_their_own_answers(served):
    texts = {"Who fed the cat ?": 5, "Which animal did the young painter feed in the garden ?": 11}

    def ask(number: int) -> tuple[str, int, int]:
        text = list(texts)[number % 2]
        status, found = served.post("/api/analyze", {"text": text, "model": ("questions", "roles")[number % 2]})
        return text, status, len(found["words"])

    with ThreadPoolExecutor(8) as users:
        for text, status, words in users.map(ask, range(24)):
            assert (status, words) == (200, texts[text])


def test_silent_connections_keep_nobody_waiting(served):
    place = urlsplit(served.url)
    silent = [socket.create_connection((place.hostname, place.port)) for _ in range(50)]
    try:
        assert served.post("/api/analyze", QUESTION)[0] == 200
    finally:
        for connection in silent:
            connection.close()


@pytest.fixture(scope="module")
def hurried(folder, tmp_path_factory):
    """A server with one worker and little time for each request."""
    place = tmp_path_factory.mktemp("few")
    for name in ("parser", "questions"):
        (place / f"{name}.sap").write_bytes((folder / f"{name}.sap").read_bytes())
    running = serve(str(place), "--workers", "1", "--time-limit", "0.5")
    yield running
    running.process.kill()
    running.process.communicate()


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    found = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    return [int(number) for number in found.split()]


def test_a_request_that_takes_too_long_is_stopped_and_the_worker_lives_on(hurried, stopwatch):
    before = workers_of(hurried.process)
    with stopwatch(at_most=3):
        status, found = hurried.post("/api/compare", SLOW)
    assert (status, found["error"]["kind"]) == (503, "time")
    assert "0.5 seconds" in found["error"]["message"]
    # On a busy machine even a short answer may not be there in time.
    _soon(lambda: hurried.post("/api/analyze", QUESTION)[0] == 200)
    assert workers_of(hurried.process) == before


def test_a_worker_that_hangs_or_dies_is_replaced(hurried):
    (worker,) = workers_of(hurried.process)
    os.kill(worker, signal.SIGSTOP)  # not even the alarm wakes it now
    status, found = hurried.post("/api/analyze", QUESTION)
    assert (status, found["error"]["kind"]) == (503, "time")
    (second,) = _soon(lambda: [one for one in workers_of(hurried.process) if one != worker])
    _soon(lambda: hurried.post("/api/analyze", QUESTION)[0] == 200)
    os.kill(second, signal.SIGKILL)
    status, found = hurried.post("/api/analyze", QUESTION)
    assert (status, found["error"]["kind"]) == (500, "internal")
    _soon(lambda: hurried.post("/api/analyze", QUESTION)[0] == 200)


def test_busy_workers_are_waited_for_and_then_given_up(hurried):
    _soon(lambda: hurried.post("/api/analyze", QUESTION)[0] == 200)
    with ThreadPoolExecutor(3) as users:
        answers = list(users.map(lambda _: hurried.post("/api/compare", SLOW), range(3)))
    # The first has the only worker for all of the time that the last can wait.
    assert {status for status, _ in answers} == {503}
    assert {found["error"]["kind"] for _, found in answers} == {"time", "busy"}
    _soon(lambda: hurried.post("/api/analyze", QUESTION)[0] == 200)


def _soon(check, seconds=60.0):
    end = time.monotonic() + seconds
    while True:
        found = check()
        if found:
            return found
        assert time.monotonic() < end
        time.sleep(0.1)


@pytest.mark.parametrize("moment", [0.2, 0.5, 0.8])
def test_ctrl_c_ends_everything_at_once(folder, tmp_path, moment, stopwatch):
    (tmp_path / "parser.sap").write_bytes((folder / "parser.sap").read_bytes())
    running = serve(str(tmp_path), "--workers", "1")
    workers = workers_of(running.process)

    def ask() -> None:
        # An answer may be cut off in the middle.
        with contextlib.suppress(OSError, http.client.HTTPException):
            running.post("/api/compare", SLOW)

    asking = threading.Thread(target=ask)
    asking.start()
    time.sleep(moment)
    with stopwatch(at_most=1):
        running.stop()
    asking.join()
    _, error = running.process.communicate()
    assert running.process.returncode == 0, error
    assert "sapwood: stopped\n" in error
    assert "Traceback" not in error
    for worker in workers:
        assert not Path(f"/proc/{worker}").exists()


def test_small_models_are_trained_and_removed_again(monkeypatch, capsys, tmp_path):
    import tempfile

    from sapwood.explorer import Limits, starter
    from sapwood.explorer import serve as serve_here

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    whole = starter.train_starters
    monkeypatch.setattr(starter, "train_starters", lambda folder, report: whole(folder, size=60, report=report))
    seen = {}

    def ready(server):
        seen["models"] = {model["name"]: model["fault"] for model in server.pool.contents["models"]}
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        serve_here(nursery=True, port=0, workers=1, limits=Limits(), ready=ready)
    names = {"parser", "grammar", "questions", "trees", "roles", "frames", "pairs", "reranker"}
    assert seen["models"] == dict.fromkeys(names, "")
    assert list(tmp_path.iterdir()) == []
    assert "synthetic and not a benchmark" in capsys.readouterr().err
    with pytest.raises(ParameterError, match="leave one of the two out"):
        serve_here(tmp_path, nursery=True)


@pytest.mark.slow
def test_without_a_folder_the_english_models_are_shown():
    pytest.importorskip("sapwood_en", reason="sapwood-en is not installed")
    from sapwood.explorer import Limits
    from sapwood.explorer import serve as serve_here

    seen = []

    def ready(server):
        seen.extend(server.pool.contents["models"])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        serve_here(port=0, workers=1, limits=Limits(), ready=ready)
    assert {model["name"] for model in seen} >= {"parser", "roles", "frames"}
    cards = {model["name"]: {name for name, _ in model["card"]} for model in seen if not model["fault"]}
    assert cards.keys() >= {"parser", "roles", "frames"}
    assert all({"trained on", "class"} <= names for names in cards.values())


def test_the_command_line_says_what_is_wrong(tmp_path, capsys, served):
    assert main(["serve", str(tmp_path / "missing")]) == 1
    assert "there is no such folder" in capsys.readouterr().err
    assert main(["serve", str(tmp_path)]) == 1
    assert "holds no model file" in capsys.readouterr().err
    (tmp_path / "x.sap").write_bytes(b"")
    port = str(urlsplit(served.url).port)
    assert main(["serve", str(tmp_path), "--port", port]) == 2
    assert f"port {port} is taken" in capsys.readouterr().err
    assert main(["serve", str(tmp_path), "--host", "no.such.host.invalid"]) == 2
    assert "cannot listen on" in capsys.readouterr().err
    assert main(["serve", str(tmp_path), "--host", ""]) == 2
    assert main(["serve", str(tmp_path), "--time-limit", "1e9"]) == 2
    assert "at most 3600 seconds" in capsys.readouterr().err
    for bad in ("-1", "65536", "x", "8_0"):
        with pytest.raises(SystemExit):
            main(["serve", "--port", bad])


def test_other_hosts_are_warned_about(folder, tmp_path):
    (tmp_path / "parser.sap").write_bytes((folder / "parser.sap").read_bytes())
    running = serve(str(tmp_path), "--workers", "1", "--host", "0.0.0.0")
    try:
        assert running.ask("GET", "/")[0] == 200
        assert running.ask("GET", "/", headers={"Host": socket.gethostname()})[0] == 200
        assert running.ask("GET", "/", headers={"Host": "evil.example"})[0] == 403
    finally:
        running.stop()
    assert "can be reached from other machines" in running.process.communicate()[1]
    assert running.process.returncode == 0
