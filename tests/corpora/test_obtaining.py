"""Getting corpora: from a server on this machine, a folder or a file; and joining the English Web Treebank."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.paths import DATA

from sapwood import corpora
from sapwood.cli import main
from sapwood.corpora import obtaining, propbank_columns, web_treebank
from sapwood.corpora.catalog import data_folders, find
from sapwood.corpora.obtaining import obtain
from sapwood.errors import DataError, ParameterError
from sapwood.trees import read_trees

TREE = b"((S (NP (NN Rain)) (VP (VBD fell))))\n"


def zipped(**files: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return packed.getvalue()


class Server:
    """Files by path; it may break off after some bytes, and say which version of a file it has."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.asked: list[tuple[str, str | None]] = []
        self.break_after: int | None = None
        self.etags = True
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                name, span = self.path.removeprefix("/"), self.headers.get("Range")
                server.asked.append((name, span))
                if name not in server.files:
                    self.send_error(404)
                    return
                data = server.files[name]
                tag = f'"{hashlib.sha256(data).hexdigest()[:8]}"'
                same = self.headers.get("If-Range", tag) == tag
                begin = int(span.removeprefix("bytes=").rstrip("-")) if span and same else 0
                self.send_response(206 if begin else 200)
                self.send_header("Content-Length", str(len(data) - begin))
                if server.etags:
                    self.send_header("ETag", tag)
                self.end_headers()
                self.wfile.write(data[begin:][: server.break_after])

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.http.server_address[1]}"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    made = Server()
    threading.Thread(target=made.http.serve_forever, args=(0.01,), daemon=True).start()
    for name in ("_NLTK", "_CRAFT", "_UD"):
        monkeypatch.setattr(obtaining, name, made.address)
    monkeypatch.setattr(obtaining, "_PROPBANK", f"{made.address}/HEAD.tar.gz")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("SAPWOOD_DATA", raising=False)
    monkeypatch.delenv("NLTK_DATA", raising=False)
    yield made
    made.http.shutdown()
    made.http.server_close()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home" / "sapwood" / "data"


def test_a_file_whose_digest_is_not_known(server, home, capsys):
    server.files["wordnet.zip"] = zipped(x=b"first")
    digest = hashlib.sha256(server.files["wordnet.zip"]).hexdigest()
    assert main(["data", "get", "wordnet"]) == 0
    shown = capsys.readouterr()
    assert "License: WordNet's licence" in shown.err
    assert f"SHA-256 {digest}: not known before, so it was not checked" in shown.out
    assert (home / "SHA256SUMS").read_text() == f"{digest}  corpora/wordnet.zip\n"
    assert (home / "corpora" / "wordnet.zip").read_bytes() == server.files["wordnet.zip"]
    # What is there is not asked for again.
    assert obtain("wordnet").note == "it is there already"
    assert len(server.asked) == 1
    # From now on the digest is known: another file is refused, the same one is taken.
    (home / "corpora" / "wordnet.zip").unlink()
    first = server.files["wordnet.zip"]
    server.files["wordnet.zip"] = zipped(x=b"second")
    with pytest.raises(DataError, match=rf"expected {digest}.* was not kept.* take its line away"):
        obtain("wordnet")
    assert not list((home / "corpora").iterdir())
    server.files["wordnet.zip"] = first
    assert obtain("wordnet").known == {"corpora/wordnet.zip": digest}


def test_known_digests_and_terms(server, home, capsys):
    server.files["treebank.zip"] = b"something else"
    with pytest.raises(ParameterError, match=r"non-commercial use only.* --accept-terms"):
        obtain("penn-sample")
    assert not server.asked
    with pytest.raises(DataError, match=r"expected 9da92d76.* was not kept"):
        obtain("penn-sample", accept_terms=True)
    assert not list((home / "corpora").iterdir())
    assert main(["data", "get", "treebank"]) == 2
    assert "--accept-terms" in capsys.readouterr().err


def test_a_download_goes_on_where_it_was_broken_off(server, home):
    data = zipped(x=bytes(range(256)) * 30_000)
    server.files["wordnet.zip"], server.break_after = data, 3_000_000
    for _ in range(2):
        with pytest.raises(DataError, match="broke off; run the command again"):
            obtain("wordnet")
    server.break_after = None
    obtain("wordnet")
    assert (home / "corpora" / "wordnet.zip").read_bytes() == data
    assert [span for _, span in server.asked] == [None, "bytes=3000000-", "bytes=6000000-"]
    assert sorted(path.name for path in (home / "corpora").iterdir()) == ["wordnet.zip"]


@pytest.mark.parametrize("etags", [True, False])
def test_a_part_of_another_version_is_not_gone_on_with(server, home, etags):
    server.files["wordnet.zip"], server.break_after, server.etags = b"a" * 5000, 2000, etags
    with pytest.raises(DataError, match="broke off"):
        obtain("wordnet")
    server.files["wordnet.zip"], server.break_after = b"b" * 5000, None
    obtain("wordnet")
    assert (home / "corpora" / "wordnet.zip").read_bytes() == b"b" * 5000


def test_without_the_file_or_a_network(server, monkeypatch, capsys):
    with pytest.raises(DataError, match=r"wordnet.zip: the server says 404 .* --from"):
        obtain("wordnet")
    monkeypatch.setattr(obtaining, "_CRAFT", "http://127.0.0.1:9")
    assert main(["data", "get", "craft"]) == 1
    assert "cannot be reached" in capsys.readouterr().err
    with pytest.raises(ParameterError, match="no corpus called 'moon'"):
        obtain("moon")
    assert main(["data", "get", "moon"]) == 2
    assert "known are minilm, ewt-propbank" in capsys.readouterr().err
    assert main(["data", "--accept-terms"]) == 2
    assert "leave it out" in capsys.readouterr().err


@pytest.mark.parametrize("given", ["file", "folder", "zip"])
def test_from_files_that_are_there(server, home, tmp_path, given):
    package = zipped(**{"wordnet/x": b"x"})
    places = {"file": "wordnet.zip", "folder": "had/deep/wordnet.zip", "zip": "all.zip"}
    path = tmp_path / places[given]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(zipped(**{"deep/wordnet.zip": package}) if given == "zip" else package)
    obtain("wordnet", source=tmp_path / "had" if given == "folder" else path)
    assert (home / "corpora" / "wordnet.zip").read_bytes() == package
    assert not server.asked
    with pytest.raises(DataError, match=r"there is no craft-pmids.txt in"):
        obtain("craft", source=tmp_path / "had" if given == "folder" else path)


def test_craft_goes_on_with_the_articles_that_are_missing(server, home):
    penn = "structural-annotation/treebank/penn"
    server.files |= {"articles/ids/craft-pmids.txt": b"11\n12\n", f"{penn}/11.tree": TREE}
    with pytest.raises(DataError, match="404"):
        obtain("craft")
    server.files[f"{penn}/12.tree"] = TREE
    assert find([str(home)], names=["craft"])[0].path is not None
    found = obtain("craft")
    assert found.note == "2 articles"
    assert [name for name, _ in server.asked].count(f"{penn}/11.tree") == 1
    path = find(data_folders(), names=["craft"])[0].path
    assert path is not None
    assert len(read_trees(path)) == 2
    assert obtain("craft").note == "it is there already"
    server.files["articles/ids/craft-pmids.txt"] = b"../../x\n"
    with pytest.raises(DataError, match=r"expected the number of one article per line, found '../../x'"):
        obtain("craft", folder=home / "elsewhere")


def sources(server: Server, joined: dict[str, str], *, drop: int = 0) -> None:
    """Serve what joined columns would be joined from; ``drop`` skeletons lose their last row."""
    lists: dict[str, list[str]] = {}
    skeletons: dict[str, list[str]] = {}
    for part, text in joined.items():
        words = []
        for block in text.rstrip("\n").split("\n\n"):
            head, *rows = block.split("\n")
            name = head.removeprefix("# sent_id = ")
            kind, _, document = name.rpartition("-")[0].partition("-")
            file = f"{kind}/00/{document}.xml"
            blocks = skeletons.setdefault(file, [])
            if file + ".conllu" not in lists.setdefault(part, []):
                lists[part].append(file + ".conllu")
            cells = [row.split("\t") for row in rows]
            words += [
                head,
                "1-2\tBoth" + "\t_" * 8,
                *("\t".join((*row[:4], row[5], "_", *row[6:8], "_", "_")) for row in cells),
                "1.1\tgone" + "\t_" * 8,
                "",
            ]
            if len(cells) == 1:
                del words[-len(cells) - 3]
            lines = [
                f"google/ewt/{file} {len(blocks)} {at} [WORD] {' '.join((row[4], *row[8:]))}"
                for at, row in enumerate(cells)
            ]
            if drop > len(blocks) and len(cells) > 1:
                lines = lines[:-1]
            blocks.append("\n".join(lines) + "\n\n")
        server.files[f"en_ewt-ud-{part}.conllu"] = "\n".join([*_ordered(words), ""]).encode()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        contents = {f"data/google/ewt/{name}.gold_skel": "".join(blocks) for name, blocks in skeletons.items()}
        contents |= {f"docs/evaluation/ewt.{part}.txt": "\n".join(names) for part, names in lists.items()}
        contents["data/ontonotes/x.gold_skel"] = "broken"
        for name, text in contents.items():
            data = text.encode()
            member = tarfile.TarInfo(f"propbank-release-HEAD/{name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    server.files["HEAD.tar.gz"] = packed.getvalue()


def _ordered(lines: list[str]) -> list[str]:
    """Put empty nodes after the first word."""
    found: list[str] = []
    block: list[str] = []
    for line in lines:
        if line:
            block.append(line)
            continue
        empty = [row for row in block if row.startswith("1.1\t")]
        rest = [row for row in block if not row.startswith("1.1\t")]
        after = next(at for at, row in enumerate(rest) if row.startswith("1\t")) + 1
        found += [*rest[:after], *empty, *rest[after:], ""]
        block = []
    return found


JOINED = """# sent_id = answers-20_ans-0001
1\tRain\train\tNOUN\tNN\tNN\t2\tnsubj\t(TOP(S(NP*)\t-\t-\t(ARG1*)
2\tfell\tfall\tVERB\tVBD\tVBD\t0\troot\t(VP*)))\tfall\tfall.01\t(V*)

# sent_id = answers-20_ans-0002
1\tIt\tit\tPRON\tPRP\tPRP\t2\tnsubj\t(TOP(S(NP*)\t-\t-\t(ARG1*)
2\tfell\tfall\tVERB\tVBD\tVBD\t0\troot\t(VP*\tfall\tfall.01\t(V*)
3\t(\t(\tPUNCT\t-LRB-\t-LRB-\t2\tpunct\t*)))\t-\t-\t*

"""


def test_the_web_treebank_is_joined(server, home, capsys):
    parts = {"train": JOINED, "dev": JOINED.replace("answers-20", "email-21.x"), "test": JOINED.replace("20_", "22_")}
    sources(server, parts)
    assert main(["data", "get", "ewt", "--json", "-"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["note"].startswith("joined sentences: train 2, dev 2, test 2; left out")
    assert (record["license"], len(record["unchecked"])) == ("CC BY-SA 4.0, both parts", 4)
    for part, text in parts.items():
        assert gzip.decompress((home / "ewt-propbank" / f"{part}.conll.gz").read_bytes()).decode() == text
    assert gzip.decompress((home / "ewt-propbank" / "train.trees.gz").read_bytes()).decode() == (
        "(TOP (S (NP (NN Rain)) (VP (VBD fell))))\n(TOP (S (NP (PRP It)) (VP (VBD fell) (-LRB- -LRB-))))\n"
    )
    assert not (home / "ewt-sources").exists()
    assert find(data_folders(), names=["ewt-propbank"])[0].path is not None


def test_sentences_that_differ_are_left_out(server, home):
    sources(server, {part: JOINED.replace("20_", f"{part}_") for part in web_treebank.PARTS}, drop=1)
    assert obtain("ewt").note.endswith("train 1, dev 1, test 1; left out, since the two sources differ: 3")
    sources(server, {part: JOINED.replace("20_", f"{part}_") for part in web_treebank.PARTS})
    server.files["en_ewt-ud-dev.conllu"] = server.files["en_ewt-ud-dev.conllu"].split(b"\n\n")[0] + b"\n\n"
    with pytest.raises(DataError, match="no sentence of the part 'dev' has its words"):
        obtain("ewt", folder=home / "other")
    assert not list((home / "other" / "ewt-propbank").iterdir())


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "ewt-propbank").is_dir(), reason="the English Web Treebank is not there")
def test_the_join_gives_what_was_joined_elsewhere(server, home):
    text = gzip.decompress((DATA / "ewt-propbank" / "dev.conll.gz").read_bytes()).decode()
    blocks = [block + "\n\n" for block in text.rstrip("\n").split("\n\n")][:400]
    sources(server, {"train": JOINED, "dev": "".join(blocks), "test": JOINED.replace("20_", "22_")})
    assert "dev 400" in obtain("ewt").note
    made = (home / "ewt-propbank" / "dev.conll.gz").read_bytes()
    assert sorted(gzip.decompress(made).decode().split("\n\n")) == sorted("".join(blocks).split("\n\n"))
    trees = gzip.decompress((DATA / "ewt-propbank" / "dev.trees.gz").read_bytes()).decode().splitlines()[:400]
    own = gzip.decompress((home / "ewt-propbank" / "dev.trees.gz").read_bytes()).decode().splitlines()
    # One tree there holds a word that is nothing but backslashes, which brackets cannot hold as it is.
    assert len([1 for one, other in zip(sorted(own), sorted(trees), strict=True) if one != other]) <= 1
    assert len(list(propbank_columns.read(str(home / "ewt-propbank" / "dev.conll.gz")))) == 400


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "nltk-zips").is_dir(), reason="NLTK's packages are not there")
def test_packages_of_nltk_have_the_digests_that_are_expected(server, home):
    for name in ("penn-sample", "qc", "brown"):
        found = obtain(name, source=DATA / "nltk-zips", accept_terms=True)
        assert len(found.known) == 1
        assert not found.kept
    assert not server.asked
    assert corpora.find_nltk("treebank").startswith(str(home))
    assert find(data_folders(), names=["trec-test"])[0].path == str(home / "corpora/qc.zip/qc/test.txt")
