"""Getting an encoder: from a hub that is served here, a folder or a zip file; and what the doctor says of it."""

from __future__ import annotations

import hashlib
import json
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from sapwood.cli import main
from sapwood.errors import DataError, OutputError, ParameterError
from sapwood.words.encoder import places
from sapwood.words.encoder.fetching import fetch_encoder
from sapwood.words.encoder.places import KnownEncoder, find_encoder

FILES = {
    "model.safetensors": bytes(range(256)) * 20_000,
    "tokenizer.json": b'{"model": {}}',
    "config.json": b'{"model_type": "bert"}',
}


class Hub:
    """A hub with one encoder, which may break off after some bytes, or not know of ranges."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str | None]] = []
        self.files = dict(FILES)
        self.break_after: int | None = None
        self.knows_ranges = True
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                name = self.path.removeprefix("/somebody/tiny/resolve/main/")
                span = self.headers.get("Range")
                hub.asked.append((name, span))
                if name not in hub.files:
                    self.send_error(404)
                    return
                data = hub.files[name]
                begin = int(span.removeprefix("bytes=").rstrip("-")) if span and hub.knows_ranges else 0
                if begin and begin >= len(data):
                    self.send_error(416)
                    return
                self.send_response(206 if begin else 200)
                self.send_header("Content-Length", str(len(data) - begin))
                self.end_headers()
                sent = data[begin:]
                if hub.break_after is not None and name == "model.safetensors":
                    sent = sent[: hub.break_after]
                self.wfile.write(sent)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    made = Hub()
    threading.Thread(target=made.server.serve_forever, daemon=True).start()
    digests = tuple((name, hashlib.sha256(data).hexdigest()) for name, data in FILES.items())
    monkeypatch.setattr(places, "KNOWN", {"tiny": KnownEncoder("tiny", "somebody/tiny", digests, "Apache-2.0")})
    monkeypatch.setattr("sapwood.words.encoder.fetching.KNOWN", places.KNOWN)
    monkeypatch.setenv("HF_ENDPOINT", made.address)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "no-hub"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("SAPWOOD_DATA", raising=False)
    yield made
    made.server.shutdown()
    made.server.server_close()


def folder_of(path: Path) -> Path:
    path.mkdir(parents=True)
    for name, data in FILES.items():
        (path / name).write_bytes(data)
    return path


def test_from_the_hub(hub, tmp_path):
    with pytest.raises(DataError, match="get it with: sapwood data get tiny"):
        find_encoder("tiny")
    seen = []
    folder = fetch_encoder("tiny", report=lambda file, done: seen.append((file, done)))
    assert folder == find_encoder("tiny") == tmp_path / "data" / "sapwood" / "encoders" / "tiny"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == FILES
    assert ("model.safetensors", len(FILES["model.safetensors"])) in seen
    # What is there is not taken again.
    count = len(hub.asked)
    fetch_encoder("tiny")
    assert len(hub.asked) == count
    (folder / "tokenizer.json").write_text("changed")
    fetch_encoder("tiny")
    assert hub.asked[count:] == [("tokenizer.json", None)]


def test_a_download_goes_on_where_it_was_broken_off(hub):
    hub.break_after = 1_500_000
    with pytest.raises(DataError, match="broke off; run the command again"):
        fetch_encoder("tiny")
    with pytest.raises(DataError, match="sapwood data get tiny"):
        find_encoder("tiny")
    with pytest.raises(DataError, match="broke off"):
        fetch_encoder("tiny")
    hub.break_after = None
    folder = fetch_encoder("tiny")
    assert (folder / "model.safetensors").read_bytes() == FILES["model.safetensors"]
    asked = [span for name, span in hub.asked if name == "model.safetensors"]
    assert asked == [None, "bytes=1500000-", "bytes=3000000-"]


def test_a_server_that_knows_no_ranges_starts_anew(hub):
    hub.break_after, hub.knows_ranges = 1000, False
    with pytest.raises(DataError, match="broke off"):
        fetch_encoder("tiny")
    hub.break_after = None
    assert (fetch_encoder("tiny") / "model.safetensors").read_bytes() == FILES["model.safetensors"]


def test_a_part_that_is_whole_is_taken(hub, tmp_path):
    part = tmp_path / "data" / "sapwood" / "encoders" / "tiny" / "model.safetensors.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(FILES["model.safetensors"])
    fetch_encoder("tiny")
    assert hub.asked[0] == ("model.safetensors", f"bytes={len(FILES['model.safetensors'])}-")


def test_other_files_are_not_kept(hub):
    hub.files["model.safetensors"] = b"something else"
    with pytest.raises(DataError, match=r"the SHA-256 is .* expected .* was not kept"):
        fetch_encoder("tiny")
    assert not list((places.user_folder() / "tiny").iterdir())
    hub.files = {**FILES}
    del hub.files["config.json"]
    with pytest.raises(DataError, match=r"the server says 404 .* --from"):
        fetch_encoder("tiny")
    with pytest.raises(DataError, match="not on this machine"):
        find_encoder("tiny")


def test_without_a_network(hub, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(DataError, match=r"cannot be reached .* --from"):
        fetch_encoder("tiny")


@pytest.mark.parametrize("kind", ["folder", "zip", "deep zip"])
def test_from_elsewhere(hub, tmp_path, kind):
    source = folder_of(tmp_path / "given")
    if kind != "folder":
        deep = "all/model/" if kind == "deep zip" else ""
        with zipfile.ZipFile(tmp_path / "given.zip", "w") as archive:
            archive.writestr(f"{deep}1_Pooling/config.json", "{}")
            for name, data in FILES.items():
                archive.writestr(deep + name, data)
        source = tmp_path / "given.zip"
    folder = fetch_encoder("tiny", source)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == FILES
    assert not hub.asked


def test_sources_that_do_not_hold_it(hub, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "text").write_text("x")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("x", "x")
    for source, said in (
        ("empty", "there is no model.safetensors"),
        ("text", "is no folder and no zip file"),
        ("nothing", "is no folder and no zip file"),
        ("other.zip", r"there is no model.safetensors in it"),
    ):
        with pytest.raises(DataError, match=said):
            fetch_encoder("tiny", tmp_path / source)
    with pytest.raises(ParameterError, match="known are tiny"):
        fetch_encoder("large")


def test_a_folder_that_cannot_be_written(hub, tmp_path):
    (tmp_path / "data").write_text("a file where a folder should be")
    with pytest.raises(OutputError):
        fetch_encoder("tiny")


def test_command(hub, tmp_path, capsys):
    assert main(["data", "get", "tiny", "--json", "-"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["path"] == str(find_encoder("tiny"))
    assert record["license"] == "Apache-2.0"
    assert main(["data", "get", "tiny", "--from", str(folder_of(tmp_path / "given"))]) == 0
    assert "found as Encoder('tiny')" in capsys.readouterr().out
    for wrong, said in (
        (["get"], "takes one name: tiny"),
        (["get", "large"], "known are tiny"),
        (["ewt", "--from", "x"], "leave it out"),
    ):
        assert main(["data", *wrong]) == 2
        assert said in capsys.readouterr().err


def test_the_doctor_says_what_is_there(hub, capsys):
    def findings() -> dict[str, dict[str, str]]:
        main(["doctor", "--json", "-"])
        return {one["name"]: one for one in json.loads(capsys.readouterr().out) if one["group"] == "Encoders"}

    assert findings() == {
        "tiny": {
            "group": "Encoders", "name": "tiny", "state": "missing", "found": "not found",
            "advice": "sapwood data get tiny",
        }
    }  # fmt: skip
    folder = fetch_encoder("tiny")
    assert (findings()["tiny"]["state"], findings()["tiny"]["found"]) == ("ok", str(folder))
    folder_of(folder.with_name("another"))
    assert findings()["another"]["found"] == str(folder.with_name("another"))
    (folder / "model.safetensors").write_bytes(b"x")
    assert "its weights are not those of somebody/tiny" in findings()["tiny"]["found"]


def test_the_doctor_looks_for_the_packages_of_encoders(capsys):
    main(["doctor", "--json", "-"])
    names = {one["name"] for one in json.loads(capsys.readouterr().out) if one["group"] == "Packages"}
    assert {"onnx", "onnxruntime", "tokenizers", "torch"} <= names
