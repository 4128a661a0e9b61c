"""What the panels say, against the library itself and against brute force."""

from __future__ import annotations

import json
import time
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from explorer.running import SENTENCE
from sapwood.decode import decode_roles
from sapwood.explorer.answers import REASONS, OutOfTime, answer, contents
from sapwood.explorer.comparing import FORMS
from sapwood.explorer.decoding import decode
from sapwood.explorer.limits import Limits
from sapwood.explorer.model_folder import ModelFolder
from sapwood.explorer.worker import time_limit
from sapwood.files import save
from sapwood.kernels import PartialTree, SubsetTree
from sapwood.learn import KernelSVC
from sapwood.parse import FlatParser, tokenize
from sapwood.trees import Examples, Tree, TreeArray

LIMITS = Limits()
TREE = "(S (NP (DT The) (NN dog)) (VP (VBD chased) (NP (DT the) (JJ old) (NN cat))) (. .))"
QUESTION = "Which animal did the young painter feed in the garden ?"


def asked(models, path, **request):
    status, found = answer(models, path, request, LIMITS)
    assert status == 200, found
    # What goes over the wire is JSON without NaN.
    return json.loads(json.dumps(found, allow_nan=False))


def refused(models, path, **request):
    status, found = answer(models, path, request, LIMITS)
    assert status == 422, found
    return found["error"]["message"]


# --- analyze


def test_contents_name_every_model_with_its_panel(models):
    found = contents(models, LIMITS)
    panels = {model["name"]: model["panel"] for model in found["models"]}
    assert panels == {
        "damaged": None,
        "frames": "analyze",
        "grammar": "compare",
        "linked": None,
        "pairs": "compare",
        "parser": "analyze",
        "questions": "analyze",
        "reranker": "analyze",
        "roles": "analyze",
        "trees": "analyze",
    }
    faults = {model["name"]: model["fault"] for model in found["models"] if model["fault"]}
    assert "truncated" in faults["damaged"]
    assert "link out of the folder" in faults["linked"]
    assert not any("/" in fault for fault in faults.values())


def test_parser_gives_its_best_trees(models):
    found = asked(models, "analyze", text=QUESTION, model="parser")
    best = models["parser"].parse_nbest(tokenize(QUESTION), 5)
    assert [one["tree"]["text"] for one in found["parses"]] == [str(tree) for tree in best.parses]
    assert [one["score"] for one in found["parses"]] == best.scores.tolist()
    assert found["words"] == QUESTION.split()


def test_reranker_orders_parses_by_utility(models):
    found = asked(models, "analyze", text=QUESTION, model="reranker")
    best = models["parser"].parse_nbest(tokenize(QUESTION), 20)
    utility = models["reranker"].decision_function([best])[0]
    assert found["parses"][0]["tree"]["text"] == str(best.parses[int(utility.argmax())])
    assert [one["score"] for one in found["parses"]] == sorted(utility.tolist(), reverse=True)[:5]


@pytest.mark.parametrize("name", ["questions", "trees"])
def test_classes_and_explanations_are_the_models_own(models, name):
    found = asked(models, "analyze", text=QUESTION, model=name)
    model, tree = models[name], Tree.fromstring(found["tree"]["text"])
    margins = np.atleast_1d(model.decision_function([tree])[0])
    shown = {one["label"]: one["margin"] for one in found["classes"]}
    if len(margins) == 1:
        margins = np.array([-margins[0], margins[0]])
    assert shown == dict(zip(map(str, model.classes_), margins.tolist(), strict=True))
    assert found["classes"][0]["label"] == str(model.predict([tree])[0]) == found["explanation"]["label"]
    why = found["explanation"]
    nodes = sum(sum(one["weights"]) for one in why["trees"])
    others = sum(one["value"] for one in why["others"])
    assert why["bias"] + nodes + others == pytest.approx(max(shown.values()))
    for one in why["trees"]:
        assert len(one["weights"]) == len(one["tree"]["labels"]) == len(one["tree"]["parents"])
    by_view = {one["view"]: one["tree"] for one in why["trees"]}
    for fragment in why["fragments"]:
        # Every fragment of the example stands somewhere in it, and its root has its label.
        assert fragment["places"], fragment
        root = Tree.fromstring(fragment["text"]).label
        assert {by_view[fragment["view"]]["labels"][place[0]] for place in fragment["places"]} == {root}


def test_another_class_can_be_argued_for(models):
    other = asked(models, "analyze", text=QUESTION, model="questions")["classes"][3]["label"]
    found = asked(models, "analyze", text=QUESTION, model="questions", label=other)
    assert found["explanation"]["label"] == other
    assert "there is no class" in refused(models, "analyze", text=QUESTION, model="questions", label="NOPE")


def test_roles_and_frames_are_the_models_own(models):
    text = "The farmer gave the hungry child a fresh apple in the garden ."
    found = asked(models, "analyze", text=text, model="roles")
    tree = Tree.fromstring(found["tree"]["text"])
    expected = [(a.role, a.first, a.last) for p in models["roles"].label(tree).propositions for a in p.roles]
    assert [(s["label"], s["first"], s["last"]) for layer in found["layers"] for s in layer["spans"]] == expected
    assert all(span["why"] for layer in found["layers"] for span in layer["spans"])
    found = asked(models, "analyze", text=text, model="frames")
    targets = models["frames"].parse(tree).frames
    assert [layer["title"] for layer in found["layers"]] == [target.frame for target in targets] == ["Giving"]
    fillers = [(f.role, f.first, f.last) for f in targets[0].fillers]
    assert [(s["label"], s["first"], s["last"]) for s in found["layers"][0]["spans"]] == fillers
    # What is handed to the decoding panel is a problem that it takes, with the same answer.
    problem = found["layers"][0]["problem"]
    assert len(problem["spans"]) <= 10
    decoded = asked(
        models, "decode", **{k: problem[k] for k in ("words", "roles", "spans", "scores", "excludes", "requires")}
    )
    exact = decoded["methods"][-1]["assignment"]
    chosen = {
        (role, *problem["spans"][span]) for role, span in zip(problem["roles"], exact, strict=True) if span is not None
    }
    assert chosen == set(fillers)


@pytest.mark.parametrize("model", ["parser", "questions", "trees", "roles", "frames", "reranker"])
@pytest.mark.parametrize(
    "text",
    [
        TREE,
        "x",
        "?!",
        "שלום עולם, מי האכיל את החתול?",
        "\u202eevil\u202c \u200f mixed עברית and English .",
        "<script>alert(1)</script> <img src=x onerror=alert(1)>",
        "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 👩‍👩‍👧‍👦 ok ?",
        "One sentence . And another one . And a third .",
        "(NP)",
        "(S (X (Y (Z))))",
        "( (S (NP (DT a) (NN dog))))",
    ],
)
def test_odd_texts_are_answered_or_refused_with_a_reason(models, model, text):
    status, found = answer(models, "analyze", {"text": text, "model": model}, LIMITS)
    assert status in (200, 422), found
    assert status == 200 or len(found["error"]["message"]) > 20


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "nothing to read"),
        ("  \n ", "nothing to read"),
        ("\x00\x01", "no words"),
        ("a " * 50_000, "100,000 characters"),
        ("word " * 151, "151 words"),
        ("(S" + " (X y)" * 1000 + ")", "2,001 nodes"),
        ("(S (NP", "<string>:1:"),
        ("(S (NP \ud800))", "UTF-8"),
    ],
)
def test_too_much_or_broken_is_refused_before_any_work(models, text, says, stopwatch):
    with stopwatch(at_most=1, clock=time.process_time):
        assert says in refused(models, "analyze", text=text, model="questions")


def test_without_a_parser_only_trees_are_analyzed(folder, tmp_path):
    for name in ("questions", "roles", "reranker"):
        (tmp_path / f"{name}.sap").write_bytes((folder / f"{name}.sap").read_bytes())
    models = ModelFolder(tmp_path)
    assert "holds no parser" in refused(models, "analyze", text=QUESTION, model="roles")
    assert "holds no parser" in refused(models, "analyze", text=QUESTION, model="reranker")
    assert asked(models, "analyze", text=TREE, model="roles")["layers"]
    flat = asked(models, "analyze", text=QUESTION, model="questions")
    assert flat["tree"] is None
    assert "flat tree" in " ".join(flat["notes"])


def test_classifiers_of_other_things_than_trees_say_so(tmp_path):
    views = Examples(left=TreeArray([TREE, "(S (NP (NN x)))"]), right=TreeArray([TREE, TREE]))
    model = KernelSVC(SubsetTree().on("left") + SubsetTree().on("right")).fit(views, ["a", "b"])
    save(model, tmp_path / "views.sap")
    save(views["left"], tmp_path / "plain.sap")
    models = ModelFolder(tmp_path)
    assert "view" in refused(models, "analyze", text=TREE, model="views")
    assert "cannot show" in refused(models, "analyze", text=TREE, model="plain")
    panels = {model["name"]: (model["panel"], model["does"]) for model in contents(models, LIMITS)["models"]}
    assert panels["plain"] == (None, REASONS["TreeArray"])


def test_models_are_found_by_name_only(models, folder):
    for name in ("../trees", "/etc/passwd", str(folder / "trees"), "trees.sap", "", "." * 500):
        assert "there is no model" in refused(models, "analyze", text=QUESTION, model=name)
    assert "link out of the folder" in refused(models, "analyze", text=QUESTION, model="linked")
    assert "truncated" in refused(models, "analyze", text=QUESTION, model="damaged")
    assert "cannot show" in refused(models, "analyze", text=QUESTION, model="grammar")
    assert "not a parser" in refused(models, "analyze", text=QUESTION, model="roles", parser="trees")
    assert "must be text" in refused(models, "analyze", text=QUESTION, model=7)
    assert "must be text" in refused(models, "analyze", text=["a"], model="trees")
    assert "whole number" in refused(models, "analyze", text=QUESTION, model="trees", top=10**9)


# --- compare

FIRST = "(S (NP (DT the) (NN dog)) (VP (VBD chased) (NP (DT the) (JJ old) (NN cat))))"
SECOND = "(S (NP (DT the) (NN hound)) (VP (VBD chased) (NP (DT a) (NN cat))))"


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
@pytest.mark.parametrize("decay", [0.4, 1.0])
def test_every_kernel_says_what_the_library_says(models, form, decay):
    found = asked(models, "compare", first=FIRST, second=SECOND, kernel=form.name, decay=decay, curves=True)
    rows = {row["name"]: row for row in found["table"]}
    plain = {"SubsetTree": SubsetTree(decay), "PartialTree": PartialTree(decay)}
    for name, kernel in plain.items():
        assert rows[name]["value"] == kernel(FIRST, SECOND)
        assert rows[name]["normalized"] == pytest.approx(kernel.normalized()(FIRST, SECOND), rel=1e-12)
    # Synonyms and optional children can only add.
    assert rows["SemanticSubsetTree"]["value"] > rows["SubsetTree"]["value"]
    assert rows["GrammarDriven"]["value"] > rows["SubsetTree"]["value"]
    assert found["value"] == rows[form.name]["value"]
    assert sum(one["weight"] for one in found["fragments"]) + found["remainder"] == pytest.approx(found["value"])
    for one in found["fragments"]:
        assert all(one["places"]), one
    step = found["curves"]["decays"].index(decay)
    number = [one.name for one in FORMS].index(form.name)
    assert found["curves"]["lines"][number][step] == rows[form.name]["normalized"]


def test_places_of_a_shared_fragment_have_its_labels(models):
    found = asked(models, "compare", first=FIRST, second=SECOND, kernel="GrammarDriven", decay=0.4, top=30)
    one = next(one for one in found["fragments"] if one["text"] == "(NP DT NN)")
    for side, places in zip(found["trees"], one["places"], strict=True):
        assert [[side["tree"]["labels"][node] for node in place] for place in places] == [["NP", "DT", "NN"]] * 2


def test_trees_without_anything_in_common(models):
    found = asked(models, "compare", first="(A b)", second="(C d)", kernel="SubsetTree", decay=0.4)
    assert (found["value"], found["fragments"]) == (0.0, [])
    bare = asked(models, "compare", first="(A)", second="(A)", kernel="SubsetTree", decay=0.4)
    assert next(row for row in bare["table"] if row["name"] == "SubsetTree")["normalized"] is None


def test_pairs_are_judged_by_the_model(models):
    found = asked(models, "compare", first=FIRST, second=FIRST, kernel="SubsetTree", decay=0.4)
    (judged,) = found["pairs"]
    expected = models["pairs"].predict_proba([(FIRST, FIRST)])[0, 1]
    assert judged["probability"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"decay": 0}, "decay must be a number"),
        ({"decay": "x"}, "decay must be a number"),
        ({"decay": 1e308}, "decay must be a number"),
        ({"kernel": "__import__('os')"}, "kernel must be one of"),
        ({"second": ""}, "second text: there is nothing"),
        ({"first": "(S"}, "first text: <string>:1:"),
        ({"words": "telepathy"}, "words must be one of"),
        ({"curves": 1}, "curves must be true or false"),
    ],
)
def test_comparisons_that_make_no_sense_are_refused(models, change, says):
    request = {"first": FIRST, "second": SECOND, "kernel": "SubsetTree", "decay": 0.4} | change
    assert says in refused(models, "compare", **request)


# --- decode


@st.composite
def problems(draw):
    roles, words = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    ends = st.tuples(st.integers(0, words - 1), st.integers(0, words - 1)).map(sorted)
    spans = draw(st.lists(ends, max_size=4, unique_by=tuple))
    score = st.integers(-30, 30).map(lambda value: value / 10)
    scores = [[draw(score) for _ in spans] for _ in range(roles)]
    pairs = [[a, b] for a in range(roles) for b in range(a)]
    chosen = st.lists(st.sampled_from(pairs), max_size=2, unique_by=tuple) if pairs else st.just([])
    return {
        "words": ["w"] * words,
        "roles": [f"r{number}" for number in range(roles)],
        "spans": spans,
        "scores": scores,
        "excludes": draw(chosen),
        "requires": draw(chosen),
        "mandatory": draw(st.lists(st.integers(0, roles - 1), max_size=1)),
        "overlap": draw(st.booleans()),
        "unique": draw(st.booleans()),
    }


def breaks(problem, chosen):
    """List the kinds of constraints that an assignment breaks, straight from their definitions."""
    found = []
    spans = problem["spans"]
    for b in range(len(chosen)):
        for a in range(b):
            if chosen[a] is None or chosen[b] is None:
                continue
            one, other = (set(range(spans[k][0], spans[k][1] + 1)) for k in (chosen[a], chosen[b]))
            if not problem["overlap"] and one & other:
                found.append("overlap")
            elif problem["overlap"] and problem["unique"] and chosen[a] == chosen[b]:
                found.append("unique")
    found += ["excludes" for a, b in problem["excludes"] if chosen[a] is not None and chosen[b] is not None]
    found += ["requires" for a, b in problem["requires"] if (chosen[a] is None) != (chosen[b] is None)]
    found += ["mandatory" for a in set(problem["mandatory"]) if chosen[a] is None]
    return sorted(found)


@given(problem=problems())
def test_exact_decoding_is_the_best_of_all_assignments(problem):
    found = {one["method"]: one for one in decode(problem, LIMITS)["methods"]}

    def value(chosen):
        return sum(problem["scores"][role][span] for role, span in enumerate(chosen) if span is not None)

    everything = product([None, *range(len(problem["spans"]))], repeat=len(problem["roles"]))
    allowed = [value(chosen) for chosen in everything if not breaks(problem, chosen)]
    exact = found["exact"]
    if allowed:
        assert exact["status"] == "optimal"
        assert exact["value"] == pytest.approx(max(allowed), abs=1e-6)
        assert exact["violations"] == []
        assert value(exact["assignment"]) == pytest.approx(exact["value"], abs=1e-6)
    else:
        assert (exact["status"], exact["assignment"]) == ("infeasible", None)
    for one in found.values():
        if one["assignment"] is not None:
            assert sorted(broken["kind"] for broken in one["violations"]) == breaks(problem, one["assignment"])


def test_broken_constraints_are_those_that_the_decoder_counts():
    scores, spans = [[2.0, 1.0, 0.5], [1.5, 2.2, 0.1], [0.1, 0.1, 1.0]], [[0, 1], [1, 2], [3, 3]]
    request = {"words": list("abcd"), "roles": list("XYZ"), "spans": spans, "scores": scores}
    request |= {"excludes": [[0, 2]], "requires": [[1, 2]]}
    for one in decode(request, LIMITS)["methods"]:
        full = [[*row, 0.0] for row in scores]
        result = decode_roles(
            full, [*spans, [-1, -1]], excludes=[(0, 2)], requires=[(1, 2)], method=one["method"], beam=2
        )
        counted = {kind: count for kind, count in result.violations.items() if count}
        kinds = [broken["kind"] for broken in one["violations"]]
        assert {kind: kinds.count(kind) for kind in kinds} == counted
        assert one["value"] == result.value


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"roles": []}, "no role"),
        ({"roles": ["r"] * 21, "scores": [[0.0]] * 21}, "at most 20"),
        ({"spans": [[0, 9]]}, "token"),
        ({"spans": [["a", 1]]}, "spans"),
        ({"scores": [[0.0, 1.0]]}, "one row per role"),
        ({"scores": [[None]]}, "must be a number"),
        ({"scores": [[1e300]]}, "must be a number"),
        ({"scores": "x"}, "must be a list"),
        ({"excludes": [[0, 5]]}, "excludes"),
        ({"requires": [0]}, "requires"),
        ({"mandatory": [4]}, "mandatory"),
        ({"beam": 0}, "beam"),
        ({"words": [1, 2]}, "lists of text"),
    ],
)
def test_problems_that_make_no_sense_are_refused(models, change, says):
    request = {"words": ["a", "b"], "roles": ["r"], "spans": [[0, 1]], "scores": [[1.0]]} | change
    assert says in refused(models, "decode", **request)


# --- time


def test_native_work_is_broken_off_in_time(stopwatch):
    rows = TreeArray(
        [f"(S {' '.join(f'(A{k % 7} (B x))' for k in range(60))} (N n{number}))" for number in range(1500)]
    )
    with stopwatch(at_most=5), pytest.raises(OutOfTime), time_limit(0.3):
        PartialTree()(rows)
    time.sleep(0.3)  # the alarm is off: nothing rings any more


@pytest.mark.timing
def test_a_sentence_of_twenty_five_words_takes_little_work(models):
    assert len(SENTENCE.split()) == 25
    for model in ("parser", "questions", "trees", "roles", "frames", "reranker"):
        asked(models, "analyze", text=SENTENCE, model=model)
        start = time.process_time()
        asked(models, "analyze", text=SENTENCE, model=model)
        # Processor time: what the clock says is up to whoever else uses the machine.
        assert time.process_time() - start < 0.3, model


def test_any_parser_serves_and_a_model_brings_its_own(tmp_path, models):
    roles = clone(models["roles"])
    roles.__dict__.update(models["roles"].__dict__)
    save(roles.set_params(parser=models["parser"]), tmp_path / "roles.sap")
    save(FlatParser(), tmp_path / "flat.sap")
    folder = ModelFolder(tmp_path)
    own = asked(folder, "analyze", text="The dog chased the cat.", model="roles")
    assert own["parser"] == "the parser of the model"
    assert [span["label"] for span in own["layers"][0]["spans"]] == ["A0", "A1"]
    flat = asked(folder, "analyze", text="The dog chased the cat.", model="roles", parser="flat")
    assert flat["tree"]["text"] == str(FlatParser().parse(["The", "dog", "chased", "the", "cat", "."]))
    alone = asked(folder, "analyze", text="The dog chased the cat.", model="flat")
    assert (alone["scores"], len(alone["parses"])) == ([], 1)
    assert "not a parser" in refused(folder, "analyze", text="It barked.", model="roles", parser="roles")
