"""Every task with every kind of input, cell by cell as the table in docs/text.md has them: alone, in a grid search over
two processes, and saved and loaded.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

import sapwood as sw
from sapwood.corpora import nursery
from sapwood.errors import DataError, ParameterError
from sapwood.kernels import SubsetTree
from sapwood.learn import KernelRanker
from sapwood.parse import PCFGParser
from sapwood.parse.incremental import Forests
from sapwood.tasks.attachment import AttachmentRanker
from sapwood.tasks.frames import FrameIdentifier, FrameLabeler, FrameParser, FrameSentence, nursery_frames
from sapwood.tasks.pairs import PairClassifier, PairFeatures
from sapwood.tasks.questions import QuestionClassifier, plain_kernel
from sapwood.tasks.reranking import ParseReranker
from sapwood.tasks.roles import RoleLabeler
from sapwood.trees import RoleSentence, Tree

FORMS = ("words", "text", "tree", 'text, parser="en.sap"')
CORPUS = nursery.generate(size=300)
SENTENCES = CORPUS.sentences[200:206]


@pytest.fixture(scope="module")
def parser() -> PCFGParser:
    return PCFGParser().fit(CORPUS.trees)


@pytest.fixture(scope="module")
def path(parser, tmp_path_factory) -> str:
    found = str(tmp_path_factory.mktemp("parsers") / "en.sap")
    sw.save(parser, found)
    return found


def written(words: Any) -> str:
    """A sentence as people write it, without a blank before the full stop."""
    return re.sub(r" ([.?!,])", r"\1", " ".join(words))


def given(form: str, parser: PCFGParser) -> list[Any]:
    """The same sentences in this form; trees are those that the parser makes of them."""
    if form == "words":
        return [list(one.words) for one in SENTENCES]
    if form == "tree":
        return [parser.parse(one.words) for one in SENTENCES]
    return [written(one.words) for one in SENTENCES]


@dataclass
class Case:
    """How a task is trained, searched, asked, and how its answers compare."""

    build: Callable[[Any], Any]
    train: tuple[Any, ...]
    grid: dict[str, list[Any]]
    ask: Callable[[Any, list[Any]], list[Any]]
    kind: Callable[[Any], str]
    fit: dict[str, Any] = field(default_factory=dict)
    scoring: Any = None


def _asked() -> tuple[list[str], np.ndarray]:
    chosen = [one for one in CORPUS.sentences if one.label is not None][:60]
    return [written(one.words) for one in chosen], np.array([one.label[0] for one in chosen])


def _pairs() -> tuple[list[tuple[str, str]], list[int]]:
    texts = [written(one.words) for one in CORPUS.sentences[:41]]
    same = [(text, text) for text in texts[:20]]
    return [*same, *pairwise(texts[20:])], [1] * 20 + [0] * 20


def _mixed(sentences: list[RoleSentence]) -> list[RoleSentence]:
    """Some of the sentences without their trees, which the parser has to find."""
    return [replace(one, tree=None) if number % 2 else one for number, one in enumerate(sentences)]


def _forests(model: AttachmentRanker, examples: list[Any]) -> list[Any]:
    return [model.forests([one]) for one in examples]


def _sketch(answer: Any) -> Any:
    """What two answers are compared by."""
    if isinstance(answer, Forests):
        return answer.feet.tolist(), [str(tree) for tree in answer.trees]
    if isinstance(answer, RoleSentence):
        return answer.words, answer.propositions
    if isinstance(answer, FrameSentence):
        # Places in the text are not the same for words that are joined by blanks.
        return [(one.frame, one.tokens, [(f.role, f.first, f.last) for f in one.fillers]) for one in answer.frames]
    return answer


def _bare(parser: PCFGParser, trees: list[Tree]) -> list[Tree]:
    from sapwood.parse.incremental import attachment_trees

    return list(attachment_trees(trees))


LEXICON, FRAMES = nursery_frames(CORPUS)
CASES = {
    "QuestionClassifier.predict": Case(
        lambda parser: QuestionClassifier(plain_kernel(), parser=parser),
        _asked(),
        {"C": [1.0, 10.0]},
        lambda model, examples: model.predict(examples).tolist(),
        lambda answer: "label" if isinstance(answer, str) else "?",
    ),
    "PairClassifier.predict": Case(
        lambda parser: PairClassifier(PairFeatures(groups=("lexical", "subset")), parser=parser),
        _pairs(),
        {"C": [0.1, 1.0]},
        lambda model, examples: model.predict([(one, one) for one in examples]).tolist(),
        lambda answer: "label" if isinstance(answer, int) else "?",
    ),
    "RoleLabeler.label": Case(
        lambda parser: RoleLabeler(parser=parser),
        (_mixed(CORPUS.role_sentences()[:80]),),
        {"classification_C": [0.05, 0.1]},
        lambda model, examples: [model.label(one) for one in examples],
        lambda answer: type(answer).__name__,
    ),
    "FrameParser.parse": Case(
        lambda parser: FrameParser(
            labeler=FrameLabeler(bits=16, epochs=2), identifier=FrameIdentifier(epochs=2), parser=parser
        ),
        (FRAMES[:80],),
        {"labeler__epochs": [1, 2]},
        lambda model, examples: [model.parse(one) for one in examples],
        lambda answer: type(answer).__name__,
        fit={"lexicon": LEXICON},
        scoring=lambda model, X: -len(model.predict([written(one.parse.words) for one in X])[0].frames),
    ),
    "ParseReranker.rerank": Case(
        lambda parser: ParseReranker(
            KernelRanker(SubsetTree().on("tree"), epochs=1, random_state=0), parser=parser, n_parses=3
        ),
        (list(CORPUS.trees[:40]),),
        {"consensus": [None, 1.0]},
        lambda model, examples: list(model.rerank(examples)),
        lambda answer: type(answer).__name__,
    ),
    "AttachmentRanker.forests": Case(
        lambda parser: AttachmentRanker(KernelRanker(SubsetTree(), epochs=1, random_state=0), parser=parser),
        ([written(one.words) for one in CORPUS.sentences[:20]],),
        {"min_count": [1, 2]},
        _forests,
        lambda answer: type(answer).__name__,
    ),
}


def table() -> dict[str, list[str]]:
    text = (Path(__file__).parents[2] / "docs" / "text.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    assert tuple(rows[0][1:]) == FORMS
    return {row[0].strip("`"): row[1:] for row in rows[2:]}


def test_the_page_lists_what_is_tested():
    assert list(table()) == list(CASES)


def _examples(task: str, form: str, parser: PCFGParser) -> list[Any]:
    examples = given(form, parser)
    return _bare(parser, examples) if task == "AttachmentRanker.forests" and form == "tree" else examples


@pytest.fixture(scope="module")
def fitted(parser) -> Callable[[str], Any]:
    kept: dict[str, Any] = {}

    def find(task: str) -> Any:
        if task not in kept:
            case = CASES[task]
            kept[task] = case.build(parser).fit(*case.train, **case.fit)
        return kept[task]

    return find


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("task", CASES)
def test_alone(task, form, parser, path, fitted):
    case = CASES[task]
    model = fitted(task)
    if form == FORMS[-1]:
        model = case.build(path).fit(*case.train, **case.fit)
    answers = case.ask(model, _examples(task, form, parser))
    assert {case.kind(one) for one in answers} == {table()[task][FORMS.index(form)]}
    # However the sentence is given, the answer is the same.
    expected = case.ask(fitted(task), given("text", parser))
    assert [_sketch(one) for one in answers] == [_sketch(one) for one in expected]


@pytest.mark.slow
@pytest.mark.parametrize("task", CASES)
def test_saved_and_loaded(task, parser, fitted, tmp_path):
    case = CASES[task]
    sw.save(fitted(task), tmp_path / "model.sap")
    restored = sw.load(tmp_path / "model.sap")
    for form in FORMS[:3]:
        answers = case.ask(restored, _examples(task, form, parser))
        expected = case.ask(fitted(task), _examples(task, form, parser))
        assert [_sketch(one) for one in answers] == [_sketch(one) for one in expected]


@pytest.mark.slow
@pytest.mark.parametrize("by_path", [False, True], ids=["parser", "path"])
@pytest.mark.parametrize("task", CASES)
def test_in_a_grid_search_over_two_processes(task, by_path, parser, path, tmp_path):
    case = CASES[task]
    model = case.build(path if by_path else parser)
    search = GridSearchCV(model, case.grid, cv=2, n_jobs=2, scoring=case.scoring, error_score="raise")
    search.fit(*case.train, **case.fit)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    for form in FORMS[:3]:
        answers = case.ask(search.best_estimator_, _examples(task, form, parser))
        assert {case.kind(one) for one in answers} == {table()[task][FORMS.index(form)]}
    sw.save(search.best_estimator_, tmp_path / "best.sap")
    restored = case.ask(sw.load(tmp_path / "best.sap"), given("text", parser))
    assert [_sketch(one) for one in restored] == [
        _sketch(one) for one in case.ask(search.best_estimator_, given("text", parser))
    ]


@pytest.mark.slow
def test_a_grid_search_scores_as_the_parser_deserves(parser):
    """A clone that lost its parser would see flat trees, or nothing at all."""
    questions, labels = _asked()
    search = GridSearchCV(QuestionClassifier(plain_kernel(), parser=parser), {"C": [10.0]}, cv=3).fit(questions, labels)
    assert not search.best_estimator_.unparsed_.any()
    assert search.best_estimator_.parser is not parser
    assert search.best_estimator_.parser.tags_ == parser.tags_


@pytest.mark.parametrize("task", ["RoleLabeler.label", "FrameParser.parse", "ParseReranker.rerank"])
def test_two_sentences_where_one_is_expected(task, fitted):
    with pytest.raises(DataError, match=r"has 2 sentences where one is expected"):
        CASES[task].ask(fitted(task), ["The dog barked. The cat slept."])


@pytest.mark.parametrize("task", list(CASES)[2:])
def test_tasks_that_need_trees_say_so(task, fitted, parser):
    model = fitted(task)
    try:
        model.set_params(parser=None)
        with pytest.raises(ParameterError, match="parser="):
            CASES[task].ask(model, ["The dog barked."])
    finally:
        model.set_params(parser=parser)


def test_whole_texts(fitted):
    text = "The dog chased the cat. The cook fed the dog.\n\nWho barked?"
    labelled = fitted("RoleLabeler.label").label_text(text)
    framed = fitted("FrameParser.parse").parse_text(text)
    assert len(labelled) == len(framed) == 3
    for roles, frames in zip(labelled, framed, strict=True):
        places = [(word.begin, word.end) for word in roles.words]
        assert [text[begin:end] for begin, end in places] == list(roles.words)
        assert [(first, last + 1) for first, last in frames.parse.offsets] == places
    assert labelled[0].propositions[0].lemma == "chase"


def test_a_function_is_not_saved_silently(fitted, tmp_path, parser):
    model = RoleLabeler(parser=parser.parse).fit(CORPUS.role_sentences()[:60])
    with pytest.warns(UserWarning, match=r"PCFGParser\.parse is code, which a file cannot hold"):
        sw.save(model, tmp_path / "roles.sap")
    restored = sw.load(tmp_path / "roles.sap")
    with pytest.raises(ParameterError, match=r"saved without its parser, PCFGParser\.parse"):
        restored.label("The dog barked.")
    assert restored.label(SENTENCES[0].tree).propositions == model.label(SENTENCES[0].tree).propositions
    sw.save(restored, tmp_path / "again.sap")
    assert restored.set_params(parser=parser).label("The dog barked.").propositions
