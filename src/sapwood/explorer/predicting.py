"""Lines of a file, each answered by one model: the panel Data.

The page sends a file in pieces, so that every piece is answered in time; what it counts over all of them (errors, a
confusion matrix) is its own business.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sapwood.errors import DataError, SapwoodError
from sapwood.explorer import requests
from sapwood.explorer.analyzing import Query, kind_of
from sapwood.explorer.limits import Limits
from sapwood.explorer.model_folder import ModelFolder
from sapwood.explorer.reading import Sentence, parser_of, read_sentence
from sapwood.explorer.requests import Request, finite
from sapwood.metrics import parseval
from sapwood.parse import BaseParser
from sapwood.trees import Tree

__all__ = ["predict", "read_line"]

_LINES = 200
# A question as the TREC corpus has it: NUM:dist How far is it ... ?
_PUBLISHED = re.compile(r"([A-Z]+:[A-Za-z]+) +(\S.*)")


def predict(models: ModelFolder, request: Request, limits: Limits) -> dict[str, Any]:
    """Answer a request with ``model`` and ``lines``, and perhaps ``parser``: one row per line that is not empty.

    A row has the ``text``, what was ``expected`` (null where the line does not say), what was ``predicted``, whether
    that is ``right`` (null where nobody knows), a ``score``, and a ``fault`` in place of these where there is one.
    """
    name, parser = requests.text(request, "model"), requests.text(request, "parser", "")
    kind, model = kind_of(models, name), models[name]
    lines = requests.items(request, "lines", _LINES)
    if not all(isinstance(line, str) for line in lines):
        raise DataError("lines must be a list of text.")
    classes = [str(one) for one in getattr(model, "classes_", ())]
    own = name if isinstance(model, BaseParser) else parser
    used = parser_of(models, own, model)[0]
    rows = []
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        expected, text = read_line(line, classes)
        row: dict[str, Any] = {"line": number, "text": text, "expected": expected}
        try:
            sentence = read_sentence(text, models, limits, parser=own, model=model)
            if len(sentence.texts) > 1:
                row["note"] = f"the first of {len(sentence.texts)} sentences"
            answer = kind.answer(model, Query(sentence, {"explain": False, "parser": parser}, models, limits))
            row |= _row(answer, sentence, expected)
        except SapwoodError as error:
            row["fault"] = str(error)
        rows.append(row)
    return {"kind": kind.title, "parser": used, "score": _score_name(kind.title), "classes": classes, "rows": rows}


def read_line(line: str, classes: Sequence[str]) -> tuple[str | None, str]:
    """Take the label off a line, if it has one.

    Parameters
    ----------
    line : str
        ``label<TAB>text``, ``NUM:dist How far ... ?``, or text alone. The text may be a tree in brackets.
    classes : sequence of str
        The classes of the model: where it knows ``NUM`` but not ``NUM:dist``, the label is ``NUM``.

    Examples
    --------
    >>> read_line("NUM:dist How far is it ?", ["NUM", "LOC"])
    ('NUM', 'How far is it ?')
    >>> read_line("How far is it ?", ["NUM", "LOC"])
    (None, 'How far is it ?')
    """
    line = line.strip()
    label, tab, text = line.partition("\t")
    found = None if tab else _PUBLISHED.fullmatch(line)
    if found:
        label, text = found.groups()
    elif not tab:
        return None, line
    label = label.strip()
    coarse = label.partition(":")[0]
    return coarse if label not in classes and coarse in classes else label, text.strip()


def _score_name(title: str) -> str:
    return {
        "parser": "F1",
        "parse reranker": "F1",
        "role labeler": "least probability",
        "tree regressor": "number",
    }.get(title, "margin")


def _row(answer: dict[str, Any], sentence: Sentence, expected: str | None) -> dict[str, Any]:
    """Return what was predicted, whether it is right, and a score by which rows can be sorted."""
    if "classes" in answer:
        best, *others = answer["classes"]
        # How far the class is ahead of the next one.
        ahead = best["margin"] - (others[0]["margin"] if others else 0.0)
        right = None if expected is None else best["label"] == expected
        return {"predicted": best["label"], "right": right, "score": finite(ahead)}
    if "value" in answer:
        return {"predicted": f"{answer['value']:.4g}", "right": None, "score": answer["value"]}
    if "layers" in answer:
        spans = [span["score"] for layer in answer["layers"] for span in layer["spans"] if span["score"] is not None]
        said = "; ".join(_layer_text(layer, sentence.words) for layer in answer["layers"])
        return {"predicted": said or "nothing", "right": None, "score": min(spans, default=None)}
    tree = answer["parses"][0]["tree"]["text"]
    if not sentence.given or sentence.tree is None:
        return {"predicted": tree, "right": None, "score": None}
    scores = parseval([sentence.tree], [Tree.fromstring(tree)])
    f1 = scores.sentences[0].f1
    return {"expected": str(sentence.tree), "predicted": tree, "right": f1 == 1.0, "score": f1}


def _layer_text(layer: dict[str, Any], words: Sequence[str]) -> str:
    spans = [f"{span['label']} {' '.join(words[span['first'] : span['last'] + 1])}" for span in layer["spans"]]
    return f"{layer['title']}: {', '.join(spans)}" if spans else str(layer["title"])
