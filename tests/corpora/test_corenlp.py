from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from sapwood import corpora
from sapwood.errors import BracketError, DataError, FormatError
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
    first, second = corpora.corenlp.read(io.StringIO(PRETTY + "\n" + PRETTY))
    assert first == second
    assert first.tree.leaves() == first.words
    assert first.tags == ("WP", "VBZ", "DT", "NN", "IN", "NN", ".")
    assert first.words == ("What", "is", "the", "step", "by", "step", "?")


def test_whole_text_output() -> None:
    with pytest.raises(FormatError, match=":10:1: the heading in line 3 promises 6 tokens, the tree has 7"):
        list(corpora.corenlp.read(io.StringIO(OUTPUT.replace("#1 (7 tokens)", "#1 (6 tokens)"))))
    assert [one.words[0] for one in corpora.corenlp.read(io.StringIO(OUTPUT))] == ["What", "I"]


def test_layout_and_round_trip(tmp_path: Path) -> None:
    tree = next(corpora.corenlp.read(io.StringIO(PRETTY))).tree
    corpora.corenlp.write([tree], tmp_path / "t.txt")
    assert (tmp_path / "t.txt").read_text() == PRETTY + "\n"
    deep = Tree("x")
    for _ in range(500):
        deep = Tree("A", [deep])
    for trees in ([tree, Tree.fromstring("(NP (DT the) dog)")], [deep]):
        corpora.corenlp.write(trees, tmp_path / "t.txt")
        assert [one.tree for one in corpora.corenlp.read(tmp_path / "t.txt")] == trees


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
        list(corpora.corenlp.read(io.StringIO(text)))
    assert reason in caught.value.reason
    assert caught.value.line == line


def test_json_sentences() -> None:
    stream = io.StringIO(document(SENTENCE, SENTENCE) + "\n" + document({"parse": "(ROOT (UH no))"}))
    first, second, third = corpora.corenlp.read(stream)
    assert first == second
    assert first.words == ("Heavy", '"rain"')
    assert first.tags == ("JJ", "NN")
    assert first.dependencies is not None
    assert str(first.dependencies.to_tree()) == "(root (amod (JJ heavy)) (NN rain))"
    assert third.words == ("no",)
    assert third.dependencies is None


@pytest.mark.parametrize("indent", [None, 0, 2])
def test_json_does_not_depend_on_its_layout(indent: int | None) -> None:
    record = json.loads(document(*[SENTENCE] * 9))
    found = list(corpora.corenlp.read(io.StringIO(json.dumps(record, indent=indent))))
    assert len(found) == 9
    assert len({one.words for one in found}) == 1
    several = [record, record, {"sentences": [{"parse": "(ROOT (UH no))"}]}]
    assert len(list(corpora.corenlp.read(io.StringIO(json.dumps(several, indent=indent))))) == 19


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (document(SENTENCE)[:200], "the file is cut off"),
        (document(SENTENCE, SENTENCE).replace("},\n  {", "}\n  {"), "not valid JSON"),
        (document(SENTENCE) + "more", "expected '{', found 'more'"),
        ("{]", "not valid JSON"),
        ('{"sentences": [3]}', "expected an object in the list"),
        ('{"sentences": [{"index": ' + "9" * 5000 + "}]}", "a number of 5000 digits"),
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
        list(corpora.corenlp.read(io.StringIO(text)))
    assert reason in caught.value.reason


def test_json_without_sentences_bad_trees_and_encodings() -> None:
    with pytest.raises(DataError, match="holds no sentence"):
        list(corpora.corenlp.read(io.StringIO('{"sentences": []}')))
    with pytest.raises(BracketError, match="<stream>:4:"):
        list(corpora.corenlp.read(io.StringIO('{\n"sentences":\n[\n{"parse": "(ROOT"}]}')))
    with pytest.raises(FormatError, match=":2:5: the byte 0xe9 is not valid utf-8"):
        list(corpora.corenlp.read(io.BytesIO(b'{"sentences":\n"caf\xe9"}')))
