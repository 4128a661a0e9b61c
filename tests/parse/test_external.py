"""The wrappers of other parsers: against stand-ins that answer as the programs do, and BLLIP itself where it is found.

What all parsers have in common is in ``test_protocol.py``.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sapwood as sw
from parse import fakes
from paths import SHARED
from sapwood.errors import DataError, ModelFileError, ParameterError
from sapwood.parse import BeneparParser, BllipParser, CoreNLPParser, StanzaParser

DOG = ["The", "dog", "-LRB-", "my", "friend", "-RRB-", "barks", "."]
WOW = ["He", "says", "``", "wow", "''"]

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.mark.usefixtures("stand_ins")
class TestBllip:
    def test_lists(self, tmp_path: Path) -> None:
        parser = BllipParser(fakes.bllip_model(tmp_path / "model"), overparsing=np.int64(5))
        found = parser.parse_nbest(["f(x", "a b", "é"], np.int64(2))
        assert [tree.label for tree in found.parses] == ["S1", "S1"]
        assert [tree.children[0].label for tree in found.parses] == ["S", "NP"]
        assert found.parses.leaves() == [["f(x", "a b", "é"]] * 2
        assert found.scores.tolist() == [-10.0, -11.0]
        assert [len(one) for one in parser.parse_nbest_batch([["a"], ["b"]])] == [3, 3]
        assert parser.parse_nbest_batch([]) == []
        (tree,) = parser.parse_batch([["f(x"]])
        assert tree == parser.parse_nbest(["f(x"]).parses[0]

    def test_reranked_lists_are_in_the_order_of_the_reranker(self, tmp_path: Path) -> None:
        parser = BllipParser(fakes.bllip_model(tmp_path / "model", reranker=True), rerank=True)
        found = parser.parse_nbest(["Rain"], 2)
        assert [tree.children[0].label for tree in found.parses] == ["FRAG", "NP"]
        assert found.scores.tolist() == [2.0, 1.0]
        # Even a single tree is the best of many.
        assert parser.parse(["Rain"]).children[0].label == "FRAG"
        assert BllipParser(tmp_path / "model").parse(["Rain"]).children[0].label == "S"

    def test_sentences_without_a_parse(self, tmp_path: Path) -> None:
        parser = BllipParser(fakes.bllip_model(tmp_path / "model"))
        found = list(parser.parse_sentences([["["], ["a"] * 398, ["a"] * 399]))
        assert [one.how for one in found] == ["flat", "parser", "flat"]
        assert found[0].problem == "BLLIP found none"
        assert found[2].problem == "BLLIP takes up to 398 words, and there are 399"
        with pytest.raises(DataError, match=r"sentence 1, '\[', has no parse: BLLIP found none"):
            parser.parse_nbest_batch([["a"], ["["]])
        with pytest.raises(DataError, match="has no parse: BLLIP takes up to 398 words"):
            parser.parse(["a"] * 399)

    def test_trees_of_other_words(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        parser = BllipParser(fakes.bllip_model(tmp_path / "model"))
        call = fakes.FakeBllip.parse
        monkeypatch.setattr(fakes.FakeBllip, "parse", lambda self, tokens, rerank: call(self, tokens[::-1], rerank))
        with pytest.raises(DataError, match="BLLIP gave a tree of other words"):
            parser.parse_nbest(["Rain", "fell"])
        assert [one.how for one in parser.parse_sentences([["Rain", "fell"]])] == ["flat"]

    def test_one_model_per_process(self, tmp_path: Path) -> None:
        for name in ("one", "two"):
            fakes.bllip_model(tmp_path / name)
        first, same, other = (BllipParser(tmp_path / name) for name in ("one", "two/../one", "two"))
        assert first.parse(["a"]) == same.parse(["a"])
        with pytest.raises(
            ParameterError, match=r"one model per process, and that is .*one here; use '.*two' in another"
        ):
            other.parse(["a"])
        assert first.parse(["a"]) == same.parse(["a"])

    def test_what_is_missing_is_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        model = fakes.bllip_model(tmp_path / "model")
        with pytest.raises(ParameterError, match=r"'no/such/folder' is no folder .*no terms\.txt in it; unpack"):
            BllipParser("no/such/folder").parse(["a"])
        (model / "h.g").unlink()
        with pytest.raises(ParameterError, match=r"there is no h\.g in it"):
            BllipParser(model).parse(["a"])
        (model / "h.g").touch()
        with pytest.raises(ParameterError, match=r"needs a reranker .*features\.gz"):
            BllipParser(model, rerank=True).parse(["a"])
        monkeypatch.setattr("sapwood.parse.external.bllip._loaded", {})
        monkeypatch.setitem(sys.modules, "bllipparser", None)
        with pytest.raises(ParameterError, match="pip install bllipparser"):
            BllipParser(model).parse(["a"])

    def test_wrong_parameters(self, tmp_path: Path) -> None:
        model = fakes.bllip_model(tmp_path / "model")
        for wrong in ({"folder": 3}, {"folder": b"x"}, {"rerank": "auto"}, {"overparsing": 0}, {"overparsing": 1.5}):
            with pytest.raises(ParameterError, match=f"{next(iter(wrong))} must be"):
                BllipParser(**{"folder": model, **wrong}).parse(["a"])
        for n in (0, -1, 1.5, True, 100_001):
            with pytest.raises(ParameterError, match="n must be an integer"):
                BllipParser(model).parse_nbest(["a"], n)


@pytest.fixture(scope="module")
def bllip_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with a reranker of one feature, which prefers unlikely parses."""
    import gzip

    archive = SHARED / "data" / "bllip-model" / "bllip-open-model.tar.xz"
    if not archive.exists():
        pytest.skip(f"there is no model of BLLIP on this machine ({archive})")
    if importlib.util.find_spec("bllipparser") is None:
        pytest.skip("bllipparser is not installed")
    folder = tmp_path_factory.mktemp("bllip")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    (folder / "unified" / "reranker").mkdir(parents=True)
    (folder / "all").rename(folder / "unified" / "parser")
    for name, text in (("features", "0\tNLogP 0\n"), ("weights", "0=1\n")):
        (folder / "unified" / "reranker" / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
    return folder / "unified"


REAL = [
    ["The", "old", "scarf", "was", "found", "by", "the", "child", "in", "the", "garden", "."],
    ["Who", "wrote", "``", "Hamlet", "''", "-LRB-", "the", "play", "-RRB-", "?"],
    ["It", "did", "n't", "bite", "1,000", "dogs", ",", "or", "did", "it", "?"],
]


class TestRealBllip:
    """BLLIP itself, in processes of its own: it holds one model for as long as they last."""

    def test_trees_and_lists_are_what_bllip_gives_its_own_users(self, fresh: Run, bllip_folder: Path) -> None:
        direct = fresh(
            f"""
            import json
            from bllipparser import RerankingParser
            tool = RerankingParser()
            tool.load_parser_model({str(bllip_folder / "parser")!r}, nbest=10)
            lists = [tool.parse(words, rerank=False) for words in {REAL!r}]
            print(json.dumps([[[str(one.ptb_parse), one.parser_score] for one in each] for each in lists]))
            """
        )
        wrapped = fresh(
            f"""
            import json
            from sapwood.parse import BllipParser
            parser = BllipParser({str(bllip_folder / "parser")!r})
            lists = parser.parse_nbest_batch({REAL!r}, 10)
            print(json.dumps([list(map(list, zip(one.parses.to_strings(), one.scores.tolist()))) for one in lists]))
            best = parser.parse_batch({REAL!r})
            assert [str(tree) for tree in best] == [one.parses.to_strings()[0] for one in lists]
            """
        )
        assert wrapped.returncode == 0, wrapped.stderr
        assert [len(each) for each in json.loads(direct.stdout)] == [10, 10, 10]
        assert json.loads(wrapped.stdout) == json.loads(direct.stdout)

    def test_odd_input(self, fresh: Run, bllip_folder: Path) -> None:
        done = fresh(
            f"""
            import locale, threading
            import sapwood as sw
            from sapwood.errors import DataError, ParameterError
            from sapwood.parse import BllipParser
            parser = BllipParser({str(bllip_folder)!r}, overparsing=5)
            before = locale.setlocale(locale.LC_ALL)
            odd = ["(", ")", "[", "{{", "''", "``", '"', " ", "\\t", "\\xa0", "\\u2028", "\\x01", "é", "😀", "\\u200b"]
            odd += ["<s>", "S1", "\\\\", "/", "-NONE-", "x" * 5000, "f(x)", "((", "%", "İ"]
            odd = [[word] for word in odd]
            odd += [["The", "dog", *each, "barks", "."] for each in odd]
            odd += [["The", "dog", "barks", "."] * 99, ["("] * 60, ["word"] * 399, ["word"] * 400, ["word"] * 2000]
            found = list(parser.parse_sentences(odd))
            assert [list(one.tree.leaves()) for one in found] == odd
            flat = {{" ".join(one.words)[:9]: one.problem for one in found if one.how == "flat"}}
            assert "word word" in flat and "BLLIP takes up to 398 words" in flat["word word"], flat
            assert all(one.how == "parser" for one in found[25:50]), flat
            assert locale.setlocale(locale.LC_ALL) == before
            # Threads get in line.
            text = "The dog barked. It did not bite."
            expected = [str(one.tree) for one in parser.parse_text(text)]
            results = []
            def work(n):
                for _ in range(3):
                    assert len(parser.parse_nbest(["Rain", "fell", "."], n)) == n
                    results.append([str(one.tree) for one in parser.parse_text(text)] == expected)
            threads = [threading.Thread(target=work, args=(n,)) for n in (2, 5)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            assert results == [True] * 6
            # The reranker turns the list around.
            plain = parser.parse_nbest(["Rain", "fell", "."], 50)
            turned = BllipParser(parser.folder, rerank=True, overparsing=5)
            again = turned.parse_nbest(["Rain", "fell", "."], 50)
            assert str(again.parses[-1]) == str(plain.parses[0]) != str(turned.parse(["Rain", "fell", "."]))
            assert list(again.scores) == sorted(again.scores, reverse=True)
            try:
                BllipParser({str(bllip_folder / "parser")!r}).parse(["Rain"])
            except ParameterError as error:
                print(error)
            """,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        assert "BLLIP holds one model per process" in done.stdout

    def test_other_processes_and_files(self, fresh: Run, bllip_folder: Path) -> None:
        done = fresh(
            f"""
            import copy, pickle
            import sapwood as sw
            from joblib import Parallel, delayed
            from sklearn.base import clone
            from sapwood.parse import BllipParser
            parser = BllipParser({str(bllip_folder)!r}, overparsing=5)
            words = ["Rain", "fell", "."]
            tree = str(parser.parse(words))
            sw.save(parser, "x.sap")
            made = [clone(parser), copy.deepcopy(parser), pickle.loads(pickle.dumps(parser)), sw.load("x.sap")]
            assert [str(one.parse(words)) for one in made] == [tree] * 4
            assert list(map(str, Parallel(n_jobs=2)(delayed(one.parse)(words) for one in made))) == [tree] * 4
            print(tree)
            """,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        assert done.stdout.strip() == "(S1 (S (NP (NN Rain)) (VP (VBD fell)) (. .)))"

    @pytest.mark.slow
    def test_a_damaged_folder_does_not_end_the_process(self, fresh: Run, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        done = fresh(
            f"""
            from sapwood.errors import ParameterError
            from sapwood.parse import BllipParser
            try:
                BllipParser({str(tmp_path / "empty")!r}).parse(["Rain"])
            except ParameterError as error:
                print(error)
            """
        )
        assert "there is no terms.txt in it" in done.stdout, done.stderr


@pytest.mark.usefixtures("stand_ins")
@pytest.mark.skipif(not fakes.HAS_SPACY, reason="spaCy is not installed")
class TestBenepar:
    def test_recorded_trees(self) -> None:
        first, second = fakes._trees("benepar.txt")
        assert BeneparParser().parse(DOG) == first
        # Quotes go as text has them, and come back as they were given.
        tree = BeneparParser().parse(WOW)
        assert list(tree.leaves()) == WOW
        assert str(tree).replace("``)", '")').replace("'')", '")') == str(second)

    def test_a_pipeline_of_ones_own(self, tmp_path: Path) -> None:
        import spacy

        nlp = spacy.blank("en")
        # Sentences are given as such: a component that splits changes nothing.
        nlp.add_pipe("sentencizer")
        nlp.add_pipe("benepar", config={"model": "benepar_en3"})
        parser = BeneparParser(nlp=nlp)
        assert list(parser.parse(["Stop", ".", "Go", "."]).leaves()) == ["Stop", ".", "Go", "."]
        with pytest.raises(ParameterError, match=r"nlp=.* cannot be saved"):
            sw.save(parser, tmp_path / "x.sap")
        with pytest.raises(ParameterError, match="nlp must be a spaCy pipeline"):
            BeneparParser(nlp="en_core_web_md").parse(["Stop"])

    def test_a_sentence_that_is_too_long_costs_no_other(self) -> None:
        found = list(BeneparParser().parse_sentences([["Stop"], ["a"] * 400, ["Go"]]))
        assert [one.how for one in found] == ["parser", "flat", "parser"]
        assert "too long for the pretrained model" in found[1].problem

    def test_what_is_missing_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from spacy.tokens.underscore import Underscore

        with pytest.raises(ParameterError, match=r"cannot load the model 'other' .*benepar\.download\('other'\)"):
            BeneparParser("other").parse(["a"])
        with pytest.raises(ParameterError, match="for 'xx-none'"):
            BeneparParser(language="xx-none").parse(["a"])
        for wrong in ({"model": 3}, {"language": ""}):
            with pytest.raises(ParameterError, match="must be text"):
                BeneparParser(**wrong).parse(["a"])
        monkeypatch.setattr(Underscore, "span_extensions", {})
        with pytest.raises(ParameterError, match=r"nlp has no benepar; add it with nlp\.add_pipe"):
            BeneparParser(nlp=importlib.import_module("spacy").blank("en")).parse(["a"])
        monkeypatch.setitem(sys.modules, "benepar", None)
        with pytest.raises(ParameterError, match="pip install benepar spacy"):
            BeneparParser().transform(["A text."])


@pytest.mark.usefixtures("stand_ins")
class TestStanza:
    def test_recorded_trees(self) -> None:
        first, second = fakes._trees("stanza.txt")
        assert list(StanzaParser("it").parse_batch([DOG])) == [first]
        tree = StanzaParser().parse(WOW)
        assert list(tree.leaves()) == WOW
        assert str(tree).replace("``)", '")').replace("'')", '")') == str(second)

    def test_a_pipeline_of_ones_own(self, tmp_path: Path) -> None:
        options = {"package": "default", "processors": "tokenize,pos,constituency", "download_method": None}
        pipeline = fakes.FakePipeline(**options, verbose=True, tokenize_pretokenized=True)
        parser = StanzaParser(pipeline=pipeline)
        assert parser.parse(DOG) == StanzaParser().parse(DOG)
        with pytest.raises(ParameterError, match=r"pipeline=.* cannot be saved"):
            sw.save(parser, tmp_path / "x.sap")
        with pytest.raises(ParameterError, match="tokenize_pretokenized=True"):
            StanzaParser(pipeline=fakes.FakePipeline(**options, verbose=True)).parse(DOG)

    def test_trees_that_do_not_fit_the_sentences(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A pipeline that splits a sentence after all costs that sentence, and says so."""
        call = fakes.FakePipeline.__call__

        def split(self: Any, sentences: list[list[str]]) -> Any:
            return call(
                self, [part for words in sentences for part in ([words[:1], words[1:]] if "." in words else [words])]
            )

        monkeypatch.setattr(fakes.FakePipeline, "__call__", split)
        found = list(StanzaParser().parse_sentences([["Go"], ["Stop", "."]]))
        assert [one.how for one in found] == ["parser", "flat"]
        assert found[1].problem == "Stanza gave 2 trees for 1 sentences"

    def test_what_is_missing_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with pytest.raises(ParameterError, match=r"for 'de', .*Could not find model file.*stanza\.download\('de'\)"):
            StanzaParser("de").parse(["a"])
        for wrong in ({"lang": 3}, {"package": ""}):
            with pytest.raises(ParameterError, match="must be text"):
                StanzaParser(**wrong).parse(["a"])
        monkeypatch.setitem(sys.modules, "stanza", None)
        with pytest.raises(ParameterError, match="pip install stanza"):
            StanzaParser().transform(["A text."])

    def test_models_are_loaded_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from sklearn.base import clone

        made = []
        start = fakes.FakePipeline.__init__
        monkeypatch.setattr(
            fakes.FakePipeline,
            "__init__",
            lambda self, *args, **kwargs: (made.append(args), start(self, *args, **kwargs))[1],
        )
        parser = StanzaParser()
        assert made == []
        for one in (parser, clone(parser), StanzaParser("en")):
            one.parse(["a"])
        assert made == [("en",)]
        parser.set_params(lang="it").parse(["a"])
        assert made == [("en",), ("it",)]


@pytest.fixture
def server() -> Iterator[fakes.Server]:
    with fakes.corenlp() as running:
        yield running


class TestCoreNLP:
    def test_recorded_trees(self, server: fakes.Server) -> None:
        found = list(
            CoreNLPParser(server.url).parse_sentences([DOG, ["100%", "1 1/2+2"], ["Rain", "fell"], ["Snow", "fell"]])
        )
        assert server.requests == [4]
        assert str(found[0].tree) == (
            "(ROOT (S (NP (DT The) (NN dog) (PRN (-LRB- -LRB-) (NP (PRP$ my) (NN friend)) (-RRB- -RRB-))) "
            "(VP (VBZ barks)) (. .)))"
        )
        assert found[1].tree.leaves() == ("100%", "1 1/2+2")
        assert [one.how for one in found] == ["parser", "parser", "flat", "flat"]
        assert [one.problem for one in found[2:]] == ["CoreNLP left it unparsed"] * 2
        with pytest.raises(DataError, match="sentence 0, 'Snow fell', has no parse: CoreNLP left it unparsed"):
            CoreNLPParser(server.url).parse(["Snow", "fell"])

    def test_requests_are_not_too_large(self, server: fakes.Server) -> None:
        assert len(CoreNLPParser(server.url + "/").parse_batch([["Rain", "stops"]] * 70)) == 70
        assert server.requests == [32, 32, 6]

    def test_another_number_of_sentences(self, server: fakes.Server) -> None:
        """A server that splits where it should not costs the sentences that it splits, and no others."""

        def split(sentences: list[list[str]], properties: dict[str, str]) -> tuple[int, bytes]:
            parts = [part for words in sentences for part in ([words[:1], words[1:]] if "." in words else [words])]
            return fakes.corenlp_answer(parts, properties)

        server.reply = split
        found = list(CoreNLPParser(server.url).parse_sentences([["Go"], ["Stop", "."], ["Wait"]]))
        assert [one.how for one in found] == ["parser", "flat", "parser"]
        assert found[1].problem == "CoreNLP gave 2 trees for 1 sentences"
        assert server.requests == [3, 1, 1, 1]

    def test_a_sentence_that_takes_too_long(self, server: fakes.Server) -> None:
        def slow(sentences: list[list[str]], properties: dict[str, str]) -> tuple[int, bytes]:
            assert properties["timeout"] == "1500"
            if any(len(words) > 50 for words in sentences):
                return 500, b"CoreNLP request timed out. Your document may be too long."
            return fakes.corenlp_answer(sentences, properties)

        server.reply = slow
        found = list(CoreNLPParser(server.url, timeout=1.5).parse_sentences([["Go"], ["a"] * 60, ["Wait"]]))
        assert [one.how for one in found] == ["parser", "flat", "parser"]
        assert "request timed out" in found[1].problem

    def test_a_broken_tree_costs_its_sentence(self, server: fakes.Server) -> None:
        def broken(sentences: list[list[str]], _: dict[str, str]) -> tuple[int, bytes]:
            parses = ["(ROOT (NP" if "x" in words else fakes.plain_tree(words, "ROOT") for words in sentences]
            return 200, json.dumps({"sentences": [{"parse": parse} for parse in parses]}).encode()

        server.reply = broken
        found = list(CoreNLPParser(server.url).parse_sentences([["Go"], ["x"]]))
        assert [one.how for one in found] == ["parser", "flat"]
        assert "BracketError" in found[1].problem

    def test_trees_of_other_words(self, server: fakes.Server) -> None:
        server.reply = lambda sentences, properties: fakes.corenlp_answer(
            [words[::-1] for words in sentences], properties
        )
        (found,) = CoreNLPParser(server.url).parse_sentences([["a", "b"]])
        assert (found.how, found.problem) == (
            "flat",
            "the leaves of the parser's tree are not the words: word 0 is 'a', the leaf 'b'",
        )

    def test_no_server_is_one_error_at_once(self, tmp_path: Path) -> None:
        with fakes.corenlp() as gone:
            parser = CoreNLPParser(gone.url)
        sentences = [["Rain", "stops"]] * 300
        for ask in (parser.parse_batch, lambda X: list(parser.parse_sentences(X)), parser.transform):
            with pytest.raises(
                ParameterError, match=r"no CoreNLP server at .*refused.*StanfordCoreNLPServer -port 9000"
            ):
                ask(sentences)
        with pytest.raises(ParameterError, match="no CoreNLP server"):
            parser.parse_text("Rain stops.")
        # Saving and loading need no server.
        sw.save(parser, tmp_path / "x.sap")
        with pytest.raises(ParameterError, match="no CoreNLP server"):
            sw.load(tmp_path / "x.sap").parse(["Rain"])

    def test_a_server_that_fails(self, server: fakes.Server) -> None:
        replies = [
            (500, b"java.lang.RuntimeException: no model", "HTTP 500, java.lang.RuntimeException: no model"),
            (401, b'{"message": "Unauthorized API request"}', "HTTP 401"),
            (200, b"<html>Apache</html>", "is no CoreNLP server"),
            (200, b"\xff\xfe\xff", "is no CoreNLP server"),
            (200, b"[1, 2]", "is no CoreNLP server .*list 'sentences'"),
            (200, b'{"sentences": [{"index": 0, "tokens": []}]}', "is no CoreNLP server .*annotator parse"),
        ]  # fmt: skip
        for status, content, message in replies:
            server.reply = lambda *_, answer=(status, content): answer
            server.requests.clear()
            with pytest.raises(ParameterError, match=message):
                CoreNLPParser(server.url).parse_text("Rain stops. Snow falls.")
            assert server.requests == [2]

    def test_a_server_that_hangs(self, server: fakes.Server, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sapwood.parse.external.corenlp._GRACE", 0.05)

        def hang(sentences: list[list[str]], properties: dict[str, str]) -> tuple[int, bytes]:
            time.sleep(0.5)
            return 200, b""

        server.reply = hang
        with pytest.raises(ParameterError, match=r"does not answer within 0\.1 seconds.*raise timeout"):
            CoreNLPParser(server.url, timeout=0.05).parse_text("Rain stops. Snow falls.")
        assert server.requests == [2]

    def test_proxies_are_not_asked(self, server: fakes.Server, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("http_proxy", "HTTP_PROXY"):
            monkeypatch.setenv(name, "http://127.0.0.1:9")
        monkeypatch.delenv("no_proxy", raising=False)
        assert CoreNLPParser(server.url).parse(["Rain"]).leaves() == ("Rain",)

    def test_wrong_parameters(self) -> None:
        for url in ("localhost:9000", "", 3, "file:///etc/passwd", "http://", "http://a:b", "http://é", "http://a/\n"):
            with pytest.raises(ParameterError, match="url must be an address"):
                CoreNLPParser(url).parse(["a"])
        for timeout in (0, -1, float("nan"), float("inf"), "1", True, None):
            with pytest.raises(ParameterError, match="timeout must be a finite number of more than 0"):
                CoreNLPParser(timeout=timeout).parse(["a"])


def test_damaged_parameters_in_a_file(tmp_path: Path) -> None:
    from test_files_rules import parts, whole

    path = tmp_path / "x.sap"
    sw.save(CoreNLPParser(), path)
    header, document, body = parts(path.read_bytes())
    del document["sha256"], document["minor"]
    for change in ({"url": "file:///etc/passwd"}, {"timeout": None}, {"other": 1}):
        document["object"]["parameters"] = {"url": "http://localhost:9000", "timeout": 1, **change}
        path.write_bytes(whole(header, document, body))
        with pytest.raises(ModelFileError, match=r"CoreNLPParser' cannot be rebuilt|timeout of CoreNLPParser is None"):
            sw.load(path)
