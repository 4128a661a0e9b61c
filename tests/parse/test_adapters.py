"""One hand-written output of each other parser, as its own objects or files have it.

The parsers that wrap them are in ``test_external.py``.
"""

from __future__ import annotations

import io
from types import SimpleNamespace

import pytest

from sapwood import corpora
from sapwood.errors import BracketError, DataError
from sapwood.parse import BeneparParser, BllipParser, CoreNLPParser, StanzaParser

RAIN = "(ROOT (S (NP (NN Rain)) (VP (VBZ falls)) (. .)))"


def _node(label, *children):
    """A tree as stanza.models.constituency.parse_tree has it."""
    return SimpleNamespace(label=label, children=children)


def test_stanza():
    tree = _node("ROOT", _node("S", _node("NP", _node("NN", _node("Rain"))), _node("VP", _node("VBZ", _node("falls"))),
                               _node(".", _node("."))))  # fmt: skip
    document = SimpleNamespace(sentences=[SimpleNamespace(constituency=tree)])
    assert [str(tree) for tree in StanzaParser.trees_of(document)] == [RAIN]
    with pytest.raises(DataError, match="constituency"):
        StanzaParser.trees_of(SimpleNamespace(sentences=[SimpleNamespace(constituency=None)]))
    with pytest.raises(DataError, match=r"stanza\.Document"):
        StanzaParser.trees_of("Rain falls.")


def test_benepar():
    sentence = SimpleNamespace(_=SimpleNamespace(parse_string="(S (NP (NN Rain)) (VP (VBZ falls)) (. .))"))
    assert [str(tree) for tree in BeneparParser.trees_of(SimpleNamespace(sents=iter([sentence])))] == [RAIN[6:-1]]
    with pytest.raises(DataError, match="add_pipe"):
        BeneparParser.trees_of(SimpleNamespace(sents=[SimpleNamespace(_=SimpleNamespace())]))
    with pytest.raises(DataError, match="spaCy"):
        BeneparParser.trees_of(None)


def test_corenlp_from_its_server_and_from_its_files():
    text = (
        '{"sentences": [{"index": 0, "parse": "(ROOT\\n  (S\\n    (NP (NN Rain))\\n    (VP (VBZ falls))\\n    (. .)))",'
        ' "tokens": [{"index": 1, "word": "Rain"}, {"index": 2, "word": "falls"}, {"index": 3, "word": "."}]}]}'
    )
    import json

    assert [str(tree) for tree in CoreNLPParser.trees_of(json.loads(text))] == [RAIN]
    assert [str(one.tree) for one in corpora.corenlp.read(io.StringIO(text))] == [RAIN]
    assert CoreNLPParser.trees_of({"sentences": [{"parse": "SENTENCE_SKIPPED_OR_UNPARSABLE"}]}) == [None]
    with pytest.raises(DataError, match="annotator"):
        CoreNLPParser.trees_of({"sentences": [{"index": 0}]})
    with pytest.raises(DataError, match="sentences"):
        CoreNLPParser.trees_of("text output")
    with pytest.raises(BracketError):
        CoreNLPParser.trees_of({"sentences": [{"parse": "(ROOT (NP"}]})


def test_bllip_from_its_objects_and_from_its_files():
    texts = ["(S1 (S (NP (NN Rain)) (VP (VBZ falls)) (. .)))", "(S1 (NP (NN Rain) (NNS falls) (. .)))"]
    objects = [
        SimpleNamespace(ptb_parse=text, parser_score=score) for text, score in zip(texts, (-20.5, -24.25), strict=True)
    ]
    found = BllipParser.nbest_of(objects)
    assert found.parses.to_strings() == texts
    assert found.scores.tolist() == [-20.5, -24.25]
    (read,) = list(corpora.nbest.read(io.StringIO(f"2\t0\n-20.5\n{texts[0]}\n-24.25\n{texts[1]}\n\n")))
    assert read.parses.to_strings() == texts
    assert read.scores.tolist() == found.scores.tolist()
    for wrong, message in (([], "no parse"), ([object()], "ptb_parse"), ("(S1 x)", "RerankingParser")):
        with pytest.raises(DataError, match=message):
            BllipParser.nbest_of(wrong)
