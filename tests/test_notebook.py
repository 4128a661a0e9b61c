"""In a notebook every public object shows itself, whole and without running what it holds."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from dataclasses import dataclass
from html.parser import HTMLParser

import numpy as np
import pytest

import sapwood as sw
from sapwood.corpora import nursery
from sapwood.decode import FactorGraph, RoleProblem, decode_labels, decode_roles
from sapwood.draw import LabeledSpan, Series, SpanLayer, line_chart, span_svg
from sapwood.experiments.figures import Figure
from sapwood.experiments.tables import Table
from sapwood.kernels import GrammarDriven, Linear, SemanticSubsetTree, SubsetTree
from sapwood.learn import KernelSVC
from sapwood.metrics import mcnemar, parseval, score_ranking
from sapwood.notebook import HtmlTable, table_html
from sapwood.trees import Argument, Grammar, Proposition, RoleSentence
from sapwood.words import Table as WordTable

HOSTILE = "<script>alert('&')</script>"
WAYS = ("_repr_html_", "_repr_svg_", "_repr_mimebundle_")
# Plain values of two or three fields, whose text says everything; and what makes pictures rather than being one.
PLAIN = {
    "Argument",
    "Bar",
    "Filler",
    "FrameComponent",
    "FrameRelation",
    "LabeledSpan",
    "NurseryPair",
    "ParserComponent",
    "Point",
    "Positions",
    "RoleComponent",
    "Section",
    "Series",
}


def public_classes() -> list[type]:
    found: dict[type, None] = {}
    for module in pkgutil.walk_packages(sw.__path__, "sapwood."):
        if not module.ispkg or module.name.startswith(("sapwood.cli", "sapwood._core")):
            continue
        room = importlib.import_module(module.name)
        for name in getattr(room, "__all__", []):
            value = getattr(room, name)
            protocol = getattr(value, "_is_protocol", False)
            if inspect.isclass(value) and not protocol and not issubclass(value, (BaseException, tuple)):
                found[value] = None
    return list(found)


def test_every_public_class_shows_itself():
    classes = public_classes()
    assert len(classes) > 80
    bare = {one.__name__ for one in classes if not any(hasattr(one, way) for way in WAYS) and not issubclass(one, str)}
    assert bare <= PLAIN, f"give these a _repr_html_, by sapwood.notebook.HtmlTable or another: {sorted(bare - PLAIN)}"


class _Checker(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []

    def handle_starttag(self, tag, attrs):
        assert tag != "script"
        if tag not in ("br", "input", "meta", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        assert tag != "script"

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def samples() -> dict[str, object]:
    tree = sw.Tree("S", [sw.Tree("NP", [HOSTILE]), sw.Tree("VP", ["ran"])])
    other = sw.Tree.fromstring("(S (NP dogs) (VP ran))")
    graph = FactorGraph()
    graph.at_most_one(graph.variables([1.0, 2.0]))
    model = KernelSVC(SubsetTree()).fit([tree, other], [HOSTILE, "b"])
    proposition = Proposition(1, HOSTILE, (Argument("A0", 0, 0), Argument("V", 1, 1)))
    return {
        "tree": tree,
        "array": sw.TreeArray([tree, other]),
        "bags": sw.TreeArray([[tree], [other, tree]]),
        "examples": sw.Examples(tree=[tree, other], flat=np.eye(2)),
        "kernel": 0.5 * SubsetTree().normalized().on("tree") + Linear().on("flat"),
        "words": SemanticSubsetTree(WordTable({(HOSTILE, "dog"): 0.5})),
        "grammar": Grammar.from_trees([other]),
        "grammar-driven": GrammarDriven(),
        "problem": RoleProblem([[1.0, 0.0]], [(0, 1), (-1, -1)]),
        "roles": decode_roles([[1.0, 0.0]], [(0, 1), (-1, -1)]),
        "labels": decode_labels([[0.0, 1.0]], [(0, 1)]),
        "graph": graph,
        "solution": graph.solve(trace=True),
        "trace": graph.solve(trace=True).trace,
        "model": model,
        "explanation": model.explain(tree),
        "fragments": model.fragments(),
        "alike": SubsetTree().explain(tree, other),
        "sentence": RoleSentence((HOSTILE, "ran"), (proposition,)),
        "proposition": proposition,
        "garden": nursery.generate(size=5),
        "list": nursery.generate(size=5).forest(0),
        "parseval": parseval([str(other)], [str(other)]),
        "test": mcnemar([True, False], [False, False]),
        "ranking": score_ranking([1, 0], [2.0, 1.0], groups=[0, 0]),
        "table": Table("t", HOSTILE, (HOSTILE, "n"), [(HOSTILE, 1), ("x", None)], notes=[HOSTILE]),
        "figure": Figure("f", "<svg></svg>"),
        "chart": line_chart(HOSTILE, [Series(HOSTILE, [1], [1])], x_label="x", y_label="y"),
        "spans": span_svg([HOSTILE], [SpanLayer(HOSTILE, [LabeledSpan(HOSTILE, 0, 0)])]),
        "layer": SpanLayer(HOSTILE, []),
    }


@pytest.fixture(scope="module")
def shown() -> dict[str, str]:
    found = {}
    for name, value in samples().items():
        way = next(way for way in WAYS if hasattr(value, way))
        given = getattr(value, way)()
        found[name] = given if isinstance(given, str) else given["text/html"]
    return found


def test_pictures_are_well_formed_and_safe(shown):
    for name, text in shown.items():
        if name == "model":
            continue  # scikit-learn's own, which brings a script for its copy button
        checker = _Checker()
        checker.feed(text)
        checker.close()
        assert checker.open == [], name
        assert HOSTILE not in text, name


def test_they_say_what_matters(shown):
    assert "SubsetTree" in shown["kernel"]
    assert "optimal" in shown["roles"]
    assert ">A0</text>" in shown["sentence"]
    assert "matrix, 2 × 2" in shown["examples"]
    assert "KernelSVC" in shown["model"]
    assert "iterations" in shown["trace"]


def test_long_values_are_cut_and_long_lists_counted():
    text = table_html("T", {"long": "x" * 1000, "list": list(range(50)), "n": 12345, "share": 1 / 3})
    assert "x" * 300 not in text
    assert "list of 50" in text
    assert "12,345" in text
    assert "0.333333" in text

    class Bare(HtmlTable):
        def __repr__(self) -> str:
            return "Bare<1>"

    @dataclass
    class Nothing(HtmlTable):
        pass

    assert Bare()._repr_html_() == "<code>Bare&lt;1&gt;</code>"
    assert "Nothing()" in Nothing()._repr_html_()
