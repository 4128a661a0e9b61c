"""What changes between two versions of a sentence, word by word, and over the lines of a file."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sapwood.explorer.answers import answer
from sapwood.explorer.changing import differences, remove_words
from sapwood.explorer.limits import Limits
from sapwood.explorer.predicting import read_line
from sapwood.metrics import parseval
from sapwood.parse import tokenize
from sapwood.trees import Tree

LIMITS = Limits()
SENTENCE = "The farmer gave the hungry child a fresh apple in the garden ."
TREE = "(S (NP (DT The) (NN dog)) (VP (VBD chased) (NP (DT the) (JJ old) (NN cat))) (. .))"


def asked(models, path, **request):
    status, found = answer(models, path, request, LIMITS)
    assert status == 200, found
    return json.loads(json.dumps(found, allow_nan=False))


def refused(models, path, **request):
    status, found = answer(models, path, request, LIMITS)
    assert status == 422, found
    return found["error"]["message"]


# --- two versions


def test_both_sides_are_what_the_first_panel_says(models):
    found = asked(models, "change", text=SENTENCE, second="Who fed the cat ?", model="roles", second_model="questions")
    alone = [
        asked(models, "analyze", text=SENTENCE, model="roles"),
        asked(models, "analyze", text="Who fed the cat ?", model="questions"),
    ]
    for side, one in zip(found["sides"], alone, strict=True):
        assert {**side, "milliseconds": 0} == {**one, "milliseconds": 0}
    assert found["differences"] == []
    assert "different questions" in found["notes"][0]


def test_a_role_that_goes_is_the_difference(models):
    second = SENTENCE.replace(" in the garden", "")
    found = asked(models, "change", text=SENTENCE, second=second, model="roles")
    assert found["differences"] == [{"layer": "give.01", "label": "AM-LOC", "before": "in the garden", "after": ""}]
    back = asked(models, "change", text=second, second=SENTENCE, model="roles")
    assert back["differences"] == [{"layer": "give.01", "label": "AM-LOC", "before": "", "after": "in the garden"}]


def test_a_word_in_the_place_of_another_changes_nothing_but_itself(models):
    found = asked(models, "change", text=SENTENCE, second=SENTENCE.replace("apple", "pie"), model="roles")
    assert found["differences"] == []
    same = asked(models, "change", text=SENTENCE, model="questions")
    assert same["sides"][0]["classes"] == same["sides"][1]["classes"]
    assert same["differences"] == []


def test_classes_of_two_questions_differ(models):
    asking = {"text": "Who fed the cat ?", "second": "Where did Anna feed the cat ?", "model": "questions"}
    found = asked(models, "change", **asking)
    labels = [side["classes"][0]["label"] for side in found["sides"]]
    assert (
        labels
        == models["questions"].predict([Tree.fromstring(side["tree"]["text"]) for side in found["sides"]]).tolist()
    )
    assert found["differences"] == [{"layer": "", "label": "class", "before": labels[0], "after": labels[1]}]


def test_nodes_of_two_parses_are_compared_as_sets():
    first, second = "(S (NP (DT a) (NN dog)) (VP (VBD ran)))", "(S (NP (DT a)) (VP (NN dog) (VBD ran)))"

    def side(text):
        tree = Tree.fromstring(text)
        from sapwood.explorer.reading import tree_json

        return {"words": list(tree.leaves()), "parses": [{"tree": tree_json(tree)}]}

    found = differences(side(first), side(second))
    assert found == [
        {"layer": "", "label": "NP", "before": "a dog", "after": "a"},
        {"layer": "", "label": "VP", "before": "ran", "after": "dog ran"},
    ]
    assert differences(side(first), side(first)) == []


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"second": "(S"}, "second side: <string>:1:"),
        ({"text": ""}, "first side: there is nothing to read"),
        ({"second_model": "grammar"}, "second side: the model 'grammar' is a Grammar"),
        ({"model": 3}, "must be text"),
    ],
)
def test_versions_that_make_no_sense_are_refused(models, change, says):
    request = {"text": SENTENCE, "second": SENTENCE, "model": "roles", **change}
    assert says in refused(models, "change", **request)


ODD = [
    "x",
    "?!",
    "(NP)",
    "(S (X (Y (Z))))",
    "( (S (NP (DT a) (NN dog))))",
    "(S (NP a b) c)",
    "\u202eevil\u202c \u200f mixed עברית and English .",
    "One sentence . And another one .",
    "(S (NP",
    "word " * 151,
    "\x00\x01",
]


@pytest.mark.parametrize("model", ["parser", "questions", "trees", "roles", "frames", "reranker", "damaged", "grammar"])
def test_odd_texts_are_answered_or_refused_with_a_reason(models, model):
    for text in ODD:
        for path, request in (
            ("change", {"text": text, "second": SENTENCE}),
            ("change", {"text": SENTENCE, "second": text, "second_model": "trees"}),
            ("without", {"text": text}),
            ("why", {"text": text, "predicate": 0, "first": 0, "last": 0, "role": "A0"}),
            ("predict", {"lines": [text, f"label\t{text}"]}),
        ):
            status, found = answer(models, path, {"model": model, **request}, LIMITS)
            assert status in (200, 422), (path, text, found)
            assert status == 200 or len(found["error"]["message"]) > 20


# --- word by word


@pytest.mark.parametrize("gone", [set(), {0}, {1}, {0, 1}, {2}, {3, 4, 5}, {0, 1, 2, 3, 4, 5}])
def test_words_are_cut_off_a_tree(gone):
    tree = Tree.fromstring(TREE)
    left = remove_words(tree, gone)
    assert list(left.leaves()) == [word for number, word in enumerate(tree.leaves()) if number not in gone]

    # What is left of a node is what covers a word that is left: the same by recursion.
    def cut(node, at):
        if node.is_leaf:
            return (None if at in gone else node), at + 1
        kept = []
        for child in node.children:
            one, at = cut(child, at)
            kept += [one] if one is not None else []
        return (Tree(node.label, kept) if kept else None), at

    assert left == cut(tree, 0)[0]


def test_margins_without_each_word_are_those_of_the_shorter_sentence(models):
    question = "Which animal did the young painter feed in the garden ?"
    model, parser = models["questions"], models["parser"]
    found = asked(models, "without", text=question, model="questions")
    words = list(map(str, tokenize(question)))
    assert [row["word"] for row in found["rows"]] == words == found["words"]
    whole = model.decision_function([parser.parse(words)])[0]
    chosen = int(np.argmax(whole))
    assert found["label"] == model.classes_[chosen]
    for gone, row in enumerate(found["rows"]):
        margins = model.decision_function([parser.parse(words[:gone] + words[gone + 1 :])])[0]
        assert row["change"] == pytest.approx(margins[chosen] - whole[chosen])
        assert row["now"] == model.classes_[int(np.argmax(margins))]
        assert (row["now"] != found["label"]) == bool(row["differences"])


def test_words_of_a_typed_tree_are_cut_off_and_nothing_is_parsed(models):
    found = asked(models, "without", text=TREE, model="trees")
    model, tree = models["trees"], Tree.fromstring(TREE)
    sign = 1 if found["label"] == model.classes_[1] else -1
    before = sign * model.decision_function([tree])[0]
    for gone, row in enumerate(found["rows"]):
        after = sign * model.decision_function([remove_words(tree, {gone})])[0]
        assert row["change"] == pytest.approx(after - before)


def test_roles_without_the_verb_are_gone(models):
    found = asked(models, "without", text="The farmer fed the rabbit .", model="roles")
    assert [row["word"] for row in found["rows"]] == ["The", "farmer", "fed", "the", "rabbit", "."]
    lost = {(one["layer"], one["label"], one["before"]) for one in found["rows"][2]["differences"] if one["before"]}
    assert lost == {("feed.01", "", "fed"), ("feed.01", "A0", "The farmer"), ("feed.01", "A1", "the rabbit")}
    for model in ("parser", "frames", "reranker"):
        assert len(asked(models, "without", text=SENTENCE, model=model)["rows"]) == 13
    assert "one word only" in refused(models, "without", text="Run", model="parser")


# --- lines of a file


def test_labels_are_taken_off_lines():
    classes = ["HUM", "NUM:dist"]
    assert read_line("HUM:ind\tWho ran ?", classes) == ("HUM", "Who ran ?")
    assert read_line("NUM:dist How far ?", classes) == ("NUM:dist", "How far ?")
    assert read_line("other\t(S (NP (NN x)))", classes) == ("other", "(S (NP (NN x)))")
    assert read_line("  Who ran ?  ", classes) == (None, "Who ran ?")


def test_lines_are_predicted_as_the_model_does(models):
    lines = ["HUM:ind\tWho fed the cat ?", "", "LOC:other\tWhere is it ?", "When did Anna see it ?", "x\t(S (NP"]
    found = asked(models, "predict", model="questions", lines=lines)
    assert [row["line"] for row in found["rows"]] == [0, 2, 3, 4]
    model, parser = models["questions"], models["parser"]
    for row in found["rows"][:3]:
        margins = np.sort(model.decision_function([parser.parse(tokenize(row["text"]))])[0])
        assert row["predicted"] == model.predict([parser.parse(tokenize(row["text"]))])[0]
        assert row["score"] == pytest.approx(margins[-1] - margins[-2])
        assert row["right"] == (None if row["expected"] is None else row["predicted"] == row["expected"])
    assert "<string>:1:" in found["rows"][3]["fault"]
    assert set(found["classes"]) == set(model.classes_)


def test_parses_of_given_trees_are_scored(models):
    wrong = "(S (NP (DT The) (NN farmer) (VBD fed)) (VP (DT the) (NN rabbit)) (. .))"
    right = str(models["parser"].parse(["The", "farmer", "fed", "the", "rabbit", "."]))
    found = asked(models, "predict", model="parser", lines=[wrong, right, "The farmer fed the rabbit ."])
    scores = [parseval([gold], [right]).overall.f1 for gold in (wrong, right)]
    assert [row["score"] for row in found["rows"]] == [pytest.approx(scores[0]), pytest.approx(scores[1]), None]
    assert [row["right"] for row in found["rows"]] == [False, True, None]
    assert found["score"] == "F1"


def test_roles_of_lines_are_written_out(models):
    (row,) = asked(models, "predict", model="roles", lines=["The farmer fed the rabbit ."])["rows"]
    assert row["predicted"] == "feed.01: A0 The farmer, A1 the rabbit"
    assert 0 < row["score"] <= 1
    assert "at most 200" in refused(models, "predict", model="roles", lines=["x"] * 201)
    assert "list of text" in refused(models, "predict", model="roles", lines=[1])


# --- why, how sure, and lines between words


def test_the_reasons_of_a_role_are_the_models_own(models):
    text = "The farmer fed the rabbit ."
    found = asked(models, "why", text=text, model="roles", predicate=2, first=0, last=1, role="A0")
    own = models["roles"].explain(models["parser"].parse(text.split()), 2, (0, 1), role="A0")
    assert found["margin"] == pytest.approx(own.margin)
    assert found["features"] == [[name, pytest.approx(weight)] for name, weight in own.features[:8]]
    assert "labels no roles" in refused(
        models, "why", text=text, model="parser", predicate=2, first=0, last=1, role="A0"
    )
    assert "whole number" in refused(models, "why", text=text, model="roles", predicate=9, first=0, last=1, role="A0")


def test_nodes_of_parses_have_the_probabilities_of_the_chart(models):
    text = "Anna saw the child with the old scarf ."
    found = asked(models, "analyze", text=text, model="parser")
    chart = models["parser"].chart(text.split())
    assert len(found["parses"]) > 1
    for one in found["parses"]:
        tree = Tree.fromstring(one["tree"]["text"])
        assert len(one["sure"]) == tree.size()
        for (begin, end, label), share in chart.probabilities(tree).items():
            assert any(
                node == label and value == pytest.approx(share, abs=1e-4)
                for node, value in zip(one["tree"]["labels"], one["sure"], strict=True)
            ), (begin, end, label)
    assert min(found["parses"][0]["sure"]) > min(found["parses"][-1]["sure"])
    assert asked(models, "analyze", text=text, model="roles")["sure"] == found["parses"][0]["sure"]
    assert asked(models, "analyze", text=TREE, model="roles")["sure"] is None


def test_words_that_stand_for_each_other_are_linked(models):
    request = {"first": "(NP (DT the) (NN dog))", "second": "(NP (DT the) (NN hound))", "decay": 0.4}
    found = asked(models, "compare", kernel="SemanticSubsetTree", **request)
    pairs = {(one, other): similarity for one, other, similarity, _ in found["links"]}
    assert pairs[0, 0] == 1.0
    assert 0 < pairs[1, 1] <= 1
    assert asked(models, "compare", kernel="SubsetTree", **request)["links"] == []
