"""The parser of a CoreNLP server, asked over HTTP."""

from __future__ import annotations

import json
from collections.abc import Sequence
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import ProxyHandler, Request, build_opener

from sapwood.checks import check_amount
from sapwood.errors import DataError, ParameterError
from sapwood.layouts import register_estimator
from sapwood.parse.base import BaseParser
from sapwood.parse.external.words import penn, with_words
from sapwood.trees.tree import Tree

__all__ = ["CoreNLPParser"]

_UNPARSED = "SENTENCE_SKIPPED_OR_UNPARSABLE"
_PROPERTIES = {
    "annotators": "tokenize,ssplit,pos,parse",
    "tokenize.whitespace": "true",
    "ssplit.eolonly": "true",
    "outputFormat": "json",
}
# Sentences in one request: a server refuses 100,000 characters, and what takes too long is lost as a whole.
_SENTENCES = 32
# By how many seconds a server may miss the time that it was given before it counts as hung.
_GRACE = 10.0


class CoreNLPParser(BaseParser):
    """The parser of a running CoreNLP server.

    Parameters
    ----------
    url : str
        Where the server is. Its language and its parsing model are those it was started with.
    timeout : float
        Seconds that a request of up to 32 sentences may take. If they do not suffice, sentences are sent one by one,
        and those that take longer have no parse; a server that does not answer at all is an error.

    Examples
    --------
    >>> CoreNLPParser("http://localhost:9001", timeout=120)
    CoreNLPParser(timeout=120, url='http://localhost:9001')
    """

    def __init__(self, url: str = "http://localhost:9000", *, timeout: float = 60.0) -> None:
        self.url = url
        self.timeout = timeout

    @staticmethod
    def trees_of(document: Any) -> list[Tree | None]:
        """Return the trees of CoreNLP's JSON, as its server sends it; None for sentences that it left unparsed.

        Parameters
        ----------
        document : dict
            With the list ``sentences``, each with its ``parse``.

        Examples
        --------
        >>> print(CoreNLPParser.trees_of({"sentences": [{"index": 0, "parse": "(ROOT\\n  (NP (NN rain)))"}]})[0])
        (ROOT (NP (NN rain)))
        """
        sentences = document.get("sentences") if isinstance(document, dict) else None
        if not isinstance(sentences, list):
            raise DataError("expected CoreNLP's JSON as a dict with the list 'sentences'; ask for outputFormat json.")
        trees: list[Tree | None] = []
        for index, sentence in enumerate(sentences):
            text = sentence.get("parse") if isinstance(sentence, dict) else None
            if not isinstance(text, str):
                raise DataError(f"sentence {index} of CoreNLP's JSON has no 'parse'; run it with the annotator parse.")
            trees.append(None if text == _UNPARSED else Tree.fromstring(text))
        return trees

    def _check(self) -> None:
        if not isinstance(self.url, str) or not _is_address(self.url):
            raise ParameterError(f"url must be an address such as http://localhost:9000, got {self.url!r}.")
        check_amount(self.timeout, "timeout", zero=False, below=86_400)

    def _parse_words(self, sentences: list[list[str]]) -> Sequence[tuple[Any, str] | Exception]:
        self._check()
        answers: list[tuple[Any, str] | Exception] = []
        for begin in range(0, len(sentences), _SENTENCES):
            part = sentences[begin : begin + _SENTENCES]
            sent = [[penn(word) for word in words] for words in part]
            for tree, asked, words in zip(self._trees(sent), sent, part, strict=True):
                # What it cannot parse CoreNLP puts under one X, without the ROOT that all parses have.
                if tree is None or tree.label == "X":
                    answers.append(DataError("CoreNLP left it unparsed."))
                else:
                    answers.append((with_words(tree, asked, words), "parser"))
        return answers

    def _trees(self, sentences: list[list[str]]) -> list[Tree | None]:
        answer = self._ask("\n".join(map(" ".join, sentences)))
        try:
            document = json.loads(answer, strict=False)
            trees = self.trees_of(document)
        except (DataError, json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ParameterError(f"what answers at {self.url} is no CoreNLP server with a parser: {error}") from None
        if len(trees) != len(sentences):
            raise DataError(f"CoreNLP gave {len(trees)} trees for {len(sentences)} sentences.")
        return trees

    def _ask(self, text: str) -> bytes:
        properties = {**_PROPERTIES, "timeout": str(max(1, int(1000 * self.timeout)))}
        request = Request(
            f"{self.url.rstrip('/')}/?{urlencode({'properties': json.dumps(properties)})}",
            # Servers of all versions decode this; plain text they treat in different ways.
            data=quote(text).encode(),
            headers={"Content-Type": "application/x-www-form-urlencoded;charset=utf-8"},
        )
        try:
            # A proxy would look for localhost on its own machine.
            with build_opener(ProxyHandler({})).open(request, timeout=self.timeout + _GRACE) as response:
                content: bytes = response.read()
                return content
        except HTTPError as error:
            reason = error.read().decode(errors="replace").strip()[:300]
            if "too long" in reason:
                raise DataError(f"CoreNLP: {reason}") from None
            raise ParameterError(f"the CoreNLP server at {self.url} failed: HTTP {error.code}, {reason}") from None
        except (OSError, HTTPException) as error:
            cause = error.reason if isinstance(error, URLError) else error
            if isinstance(cause, TimeoutError):
                raise ParameterError(
                    f"the CoreNLP server at {self.url} does not answer within {self.timeout + _GRACE:g} seconds; see "
                    "whether it still runs, or raise timeout."
                ) from None
            raise ParameterError(
                f"there is no CoreNLP server at {self.url} ({cause}); start one in CoreNLP's folder with: java -mx4g "
                "-cp '*' edu.stanford.nlp.pipeline.StanfordCoreNLPServer -port 9000"
            ) from None


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        # A port that is no number shows when it is asked for.
        whole = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
    return whole and parts.scheme in ("http", "https") and url.isascii() and url.isprintable() and " " not in url


register_estimator(CoreNLPParser)
