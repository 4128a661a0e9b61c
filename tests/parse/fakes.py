"""Stand-ins for the packages and the server of other parsers, with the calls and the formats that those have.

They know the sentences of ``recorded``, and put every other one under a plain S.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import sapwood as sw
from sapwood.parse.external import bllip

RECORDED = Path(__file__).parent / "recorded"
HAS_SPACY = importlib.util.find_spec("spacy") is not None
_SIGNS = {"-LRB-": "(", "-RRB-": ")"}


def plain_tree(words: list[str], root: str) -> str:
    return f"({root} (S {' '.join(f'(NN {word})' for word in words)}))"


def nouns(words: list[str]) -> sw.Tree:
    """A parser that is a function."""
    return sw.Tree("TOP", [sw.Tree("NN", [word]) for word in words])


class FakeBllip:
    """``bllipparser.RerankingParser``; finds nothing for a lone bracket, as BLLIP does."""

    _parser_model_loaded = False

    def __init__(self) -> None:
        self.reranker_model: Any = None
        self.options: dict[str, Any] = {}

    def load_parser_model(self, folder: str) -> None:
        assert not FakeBllip._parser_model_loaded
        FakeBllip._parser_model_loaded = True

    def load_reranker_model(self, features: str, weights: str) -> None:
        self.reranker_model = (features, weights)

    def set_parser_options(self, nbest: int = 50, overparsing: int = 21) -> None:
        # The native code takes no other kind of integer.
        assert type(nbest) is type(overparsing) is int
        self.options = {"nbest": nbest, "overparsing": overparsing}

    def parse(self, tokens: list[str], rerank: Any = "auto") -> list[Any]:
        assert len(tokens) < 399
        assert not any(sign in token for token in tokens for sign in "( )")
        if tokens == ["-LSB-"]:
            return []
        labels = ["S", "NP", "FRAG"][: self.options["nbest"]]
        found = [
            SimpleNamespace(ptb_parse=plain_tree(tokens, "S1").replace("(S ", f"({label} "), parser_score=-10.0 - at)
            for at, label in enumerate(labels)
        ]
        if rerank:
            for at, one in enumerate(found):
                one.reranker_score = float(at)
            found.reverse()
        return found


def bllip_model(folder: Path, *, reranker: bool = False) -> Path:
    """A folder with the files that a model of BLLIP has."""
    inner = folder / "parser" if reranker else folder
    inner.mkdir(parents=True)
    for name in bllip._FILES:
        (inner / name).touch()
    if reranker:
        (folder / "reranker").mkdir()
        (folder / "reranker" / "features.gz").touch()
        (folder / "reranker" / "weights.bz2").touch()
    return folder


class FakePipeline:
    """``stanza.Pipeline``; models of English and Italian have been fetched."""

    def __init__(
        self, lang: str = "en", *, package: str, processors: str, download_method: Any, verbose: Any, **kwargs: Any
    ):
        if lang not in ("en", "it"):
            raise FileNotFoundError(f"Could not find model file stanza_resources/{lang}/constituency")
        assert processors == "tokenize,pos,constituency"
        assert download_method is None
        self.config = {"tokenize_batch_size": 32, **kwargs}

    def __call__(self, sentences: list[list[str]]) -> Any:
        assert all(isinstance(word, str) for words in sentences for word in words)
        # Stanza spells brackets out where it prints a tree, not in the tree.
        known = {tuple(_SIGNS.get(leaf, leaf) for leaf in one.leaves()): one for one in _trees("stanza.txt")}
        trees = [known.get(tuple(words)) or sw.Tree("ROOT", [nouns(words)]) for words in sentences]
        return SimpleNamespace(sentences=[SimpleNamespace(constituency=_copy(tree)) for tree in trees])


class _Node:
    """``stanza.models.constituency.parse_tree.Tree``."""

    def __init__(self, label: str, children: tuple[Any, ...] = ()) -> None:
        self.label, self.children = label, children


def _copy(tree: sw.Tree) -> _Node:
    return _Node(_SIGNS.get(tree.label, tree.label) if tree.is_leaf else tree.label, tuple(map(_copy, tree.children)))


def _trees(name: str) -> list[sw.Tree]:
    return [sw.Tree.fromstring(line) for line in (RECORDED / name).read_text(encoding="utf-8").splitlines()]


def _benepar() -> ModuleType:
    """``benepar``, which tells spaCy of its component when it is imported."""
    from spacy.language import Language
    from spacy.tokens import Span

    def parse_string(span: Any) -> str:
        words = [token.text for token in span]
        for sign, penn in (
            ("(", "-LRB-"),
            (")", "-RRB-"),
            ("[", "-LSB-"),
            ("]", "-RSB-"),
            ("{", "-LCB-"),
            ("}", "-RCB-"),
        ):
            words = [word.replace(sign, penn) for word in words]
        known = {tree.leaves(): str(tree) for tree in _trees("benepar.txt")}
        return known.get(tuple(words)) or plain_tree(words, "TOP")

    def component(nlp: Any, name: str, model: str) -> Callable[[Any], Any]:
        if not model.startswith("benepar_"):
            raise LookupError(f"Resource {model} not found. Please use the NLTK Downloader to obtain the resource")

        def run(doc: Any) -> Any:
            if len(list(doc.sents)) != 1 or len(doc) > 300:
                raise ValueError("Sentence of length is too long for the pretrained model")
            return doc

        return run

    if not Language.has_factory("benepar"):
        Language.factory("benepar", func=component)
    Span.set_extension("parse_string", getter=parse_string, force=True)
    return ModuleType("benepar")


def install(put: Callable[[Any, str, Any], None] = dict.__setitem__) -> None:
    """Put the stand-ins in the place of the packages; ``put`` may undo it later."""
    for name, member, value in (("bllipparser", "RerankingParser", FakeBllip), ("stanza", "Pipeline", FakePipeline)):
        module = ModuleType(name)
        setattr(module, member, value)
        put(sys.modules, name, module)
    if HAS_SPACY:
        put(sys.modules, "benepar", _benepar())


def parse_elsewhere(parser: Any, sentences: list[list[str]]) -> list[str]:
    """What another process does."""
    install()
    return parser.parse_batch(sentences).to_strings()


Reply = Callable[[list[list[str]], dict[str, str]], tuple[int, bytes]]


def corenlp_answer(sentences: list[list[str]], properties: dict[str, str]) -> tuple[int, bytes]:
    """What a server answers that does what it is asked."""
    assert properties["tokenize.whitespace"] == properties["ssplit.eolonly"] == "true"
    assert properties["outputFormat"] == "json"
    assert "parse" in properties["annotators"].split(",")
    recorded = json.loads((RECORDED / "corenlp.json").read_text())["sentences"]
    known = {tuple(token["word"] for token in one["tokens"]): one["parse"] for one in recorded}
    parses = [known.get(tuple(words)) or plain_tree(words, "ROOT") for words in sentences]
    return 200, json.dumps({"sentences": [{"index": at, "parse": one} for at, one in enumerate(parses)]}).encode()


class Server(ThreadingHTTPServer):
    """A CoreNLP server, which counts the sentences of its requests."""

    daemon_threads = True
    reply: Reply = staticmethod(corenlp_answer)

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[int] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, *_: Any) -> None:
        """A client that no longer waits is no fault."""


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        properties = json.loads(parse_qs(urlsplit(self.path).query)["properties"][0])
        body = self.rfile.read(int(self.headers["Content-Length"])).decode("ascii")
        sentences = [line.split(" ") for line in unquote(body).split("\n")]
        self.server.requests.append(len(sentences))
        status, content = self.server.reply(sentences, properties)
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def corenlp() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
