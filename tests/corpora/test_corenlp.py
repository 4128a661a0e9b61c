from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from sapwood.corpora import iter_corenlp_json, read_corenlp, relation_centred, write_corenlp
from sapwood.corpora.corenlp import pretty
from sapwood.errors import BracketError, DataError
from sapwood.sources import FormatError
from sapwood.trees import Tree

PRETTY = """(ROOT
  (SBARQ
    (WHNP (WP What))
    (SQ (VBZ is)
      (NP
        (NP (DT the) (NN step))
        (PP (IN by)
          (NP (NN step)))))
    (. ?)))
"""

OUTPUT = f"""Document: ID=q.txt (2 sentences, 10 tokens)

Sentence #1 (7 tokens):
(ROOT what is) the step by step?

Tokens:
[Text=What CharacterOffsetBegin=0 CharacterOffsetEnd=4 PartOfSpeech=WP]

Constituency parse:
{PRETTY}
Dependency Parse (enhanced plus plus dependencies):
root(ROOT-0, is-2)

Sentence #2 (3 tokens):
I agree.
[Text=I CharacterOffsetBegin=0 CharacterOffsetEnd=1 PartOfSpeech=PRP]
(ROOT (S (NP (PRP I)) (VP (VBP agree)) (. .)))

root(ROOT-0, agree-2)
"""

SENTENCE = {
    "index": 0,
    "parse": '(ROOT\n  (NP (JJ Heavy)\n (NN "rain")))',
    "tokens": [{"word": "Heavy", "pos": "JJ", "lemma": "heavy"}, {"word": '"rain"', "pos": "NN", "lemma": "rain"}],
    "basicDependencies": [
        {"dep": "ROOT", "governor": 0, "dependent": 2},
        {"dep": "amod", "governor": 2, "dependent": 1},
    ],
}


def document(*sentences: object) -> str:
    return json.dumps({"docId": "]}", "sentences": list(sentences), "corefs": {"1": [{"text": "[{"}]}}, indent=1)


def test_pretty_printed_trees_alone() -> None:
    trees = read_corenlp(io.StringIO(PRETTY + "\n" + PRETTY))
    assert trees[0] == trees[1]
    assert trees[0].leaves() == ("What", "is", "the", "step", "by", "step", "?")


def test_whole_text_output() -> None:
    with pytest.raises(FormatError, match=":10:1: the heading in line 3 promises 6 tokens, the tree has 7"):
        read_corenlp(io.StringIO(OUTPUT.replace("#1 (7 tokens)", "#1 (6 tokens)")))
    trees = read_corenlp(io.StringIO(OUTPUT))
    assert [tree.leaves()[0] for tree in trees] == ["What", "I"]


def test_layout_and_round_trip(tmp_path: Path) -> None:
    (tree,) = read_corenlp(io.StringIO(PRETTY))
    assert pretty(tree) + "\n" == PRETTY
    deep = Tree("x")
    for _ in range(500):
        deep = Tree("A", [deep])
    for trees in ([tree, Tree.fromstring("(NP (DT the) dog)")], [deep]):
        write_corenlp(trees, tmp_path / "t.txt")
        assert read_corenlp(tmp_path / "t.txt") == trees


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        (PRETTY[:60], 1, "is never closed; the file is cut off"),
        (PRETTY[:60] + "\n\n" + PRETTY, 1, "is cut off: line"),
        (PRETTY + "free text", 10, "expected a tree or 'Sentence #1"),
        ("(ROOT (A b)) more", 1, "text after the end of the tree"),
        (OUTPUT.replace(PRETTY, ""), 3, "this sentence has no tree before line"),
        ("\n\n", 2, "the file holds no tree"),
    ],
)
def test_faults_in_text(text: str, line: int, reason: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_corenlp(io.StringIO(text))
    assert reason in caught.value.reason
    assert caught.value.line == line


def test_json_sentences() -> None:
    stream = io.StringIO(document(SENTENCE, SENTENCE) + "\n" + document({"parse": "(ROOT (UH no))"}))
    first, second, third = iter_corenlp_json(stream)
    assert first == second
    assert first.words == ("Heavy", '"rain"')
    assert first.tags == ("JJ", "NN")
    assert first.dependencies is not None
    assert str(relation_centred(first.dependencies)) == "(root (amod (JJ heavy)) (NN rain))"
    assert third.words == ("no",)
    assert third.dependencies is None


@pytest.mark.parametrize("piece", [1, 7, 64, 1000])
def test_json_does_not_depend_on_how_the_stream_is_cut(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sapwood.corpora.json_stream._PIECE", piece)
    found = list(iter_corenlp_json(io.BytesIO(document(*[SENTENCE] * 9).encode())))
    assert len(found) == 9
    assert len({one.words for one in found}) == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (document(SENTENCE)[:200], "the file is cut off"),
        (document(SENTENCE, SENTENCE).replace("},\n  {", "}\n  {"), "not valid JSON"),
        (document(SENTENCE) + "more", "the file is cut off"),
        ("{]", "closes a bracket that is not open"),
        (document({"tokens": 3}), '"tokens" of a sentence must be a list'),
        (document({"tokens": []}), "neither"),
        (document({**SENTENCE, "parse": "(ROOT (UH no))"}), "the tree has 1 words, the sentence 2 tokens"),
        (document({**SENTENCE, "basicDependencies": []}), "has no head"),
        (document({**SENTENCE, "basicDependencies": [{"dep": "x", "governor": 9, "dependent": 1}]}), "does not fit"),
        ('{"sentences": [{"a": ' + "[" * 50_000 + "]" * 50_000 + "}]}", "not valid JSON"),
    ],
)
def test_faults_in_json(text: str, reason: str) -> None:
    with pytest.raises(FormatError) as caught:
        list(iter_corenlp_json(io.StringIO(text)))
    assert reason in caught.value.reason


def test_json_without_sentences_bad_trees_and_encodings() -> None:
    with pytest.raises(DataError, match="holds no sentence"):
        list(iter_corenlp_json(io.StringIO('{"sentences": []}')))
    with pytest.raises(BracketError, match="<stream>:4:"):
        list(iter_corenlp_json(io.StringIO('{\n"sentences":\n[\n{"parse": "(ROOT"}]}')))
    with pytest.raises(FormatError, match=":2:1: the byte 0xe9 is not valid utf-8"):
        list(iter_corenlp_json(io.BytesIO(b'{"sentences":\n"caf\xe9"}')))
