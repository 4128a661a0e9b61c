"""What charts say, against all trees of a sentence, which a slow parser lists."""

from __future__ import annotations

import math
import pickle
import re
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest

import sapwood as sw
import specimens
from oracles.parsing import Toy, derivations
from parse.test_span_chart import all_trees
from sapwood.errors import DataError
from sapwood.parse import PCFGParser
from sapwood.parse.chart import spans_of

TREES = [
    "(TOP (S (NP (NN it)) (VP (VBZ sees) (NP (NP (DT the) (NN man)) (PP (IN with) (NP (DT a) (NN dog))))) (. .)))",
    "(TOP (S (NP (DT the) (NN man)) (VP (VBZ sees) (NP (NN it)) (PP (IN with) (NP (NN saw)))) (. .)))",
    "(TOP (S (NP (DT the) (NN saw)) (VP (VBZ saw) (NP (NN man) (NN dog)))))",
    "(TOP (S (VP (VBZ saw))))",
    "(TOP (NP (NP (NN dog)) (CC and) (NP (NN man))))",
]
SENTENCES = [
    ["it", "sees", "the", "man", "with", "a", "dog", "."],
    ["the", "saw", "saw", "the", "man"],
    ["saw"],
    ["dog", "and", "man", "with", "saw"],
]


@pytest.fixture(scope="module")
def parser() -> PCFGParser:
    return PCFGParser(beam=None, vertical=1, splits=()).fit(TREES)


def listed(parser: PCFGParser, words: list[str]) -> tuple[dict[str, float], list[float]]:
    """Return the probability of every tree of a sentence, and the log-probabilities of its derivations."""
    model = parser._model
    arrays, begin, chains = model.tables.arrays, 0, []
    for upper, lower, weight, end in zip(
        *(arrays[name].tolist() for name in ("uppers", "lowers", "chain_weights", "chain_ends")), strict=True
    ):
        chains.append((upper, lower, weight, tuple(arrays["chain_labels"][begin:end].tolist())))
        begin = end
    rules = zip(*(arrays[name].tolist() for name in ("parents", "lefts", "rights")), strict=True)
    assert model.tables.root == 0
    toy = Toy(
        model.tables.labels,
        arrays["labels"].tolist(),
        dict(zip(rules, arrays["weights"].tolist(), strict=True)),
        chains,
        arrays["stay"].tolist(),
        [],
    )
    found = derivations(toy, [model._symbols(word, at == 0, None) for at, word in enumerate(words)])
    total = np.logaddexp.reduce([weight for weight, _ in found])
    trees: dict[str, float] = defaultdict(float)
    for weight, text in found:
        for at in range(len(words), 0, -1):
            text = text.replace(f" w{at - 1})", f" {words[at - 1]})")
        trees[text] += math.exp(weight - total)
    return trees, [weight - float(total) for weight, _ in found]


def tags_of(tree: sw.Tree) -> list[str]:
    return [node.label for node in tree.preorder() if len(node.children) == 1 and node.children[0].is_leaf]


@pytest.mark.parametrize("words", SENTENCES, ids=len)
def test_all_trees(parser, words):
    truth, weights = listed(parser, words)
    assert sum(truth.values()) == pytest.approx(1)
    chart = parser.chart(words)
    assert chart.words == tuple(words)
    assert chart.entropy() == pytest.approx(-sum(math.exp(w) * w for w in weights) / math.log(2), abs=1e-9)
    best = chart.nbest(5000)
    assert set(best.parses.to_strings()) == set(truth)
    assert all(a >= b for a, b in pairwise(best.scores))
    for tree, score in zip(best.parses, best.scores, strict=True):
        assert math.exp(score) == pytest.approx(truth[str(tree)], rel=1e-9)
        assert chart.log_probability(tree) == pytest.approx(score, abs=1e-9)
    assert str(chart.best()) == max(truth, key=truth.__getitem__)
    constituents: Counter[tuple] = Counter()
    tags: Counter[tuple] = Counter()
    for text, share in truth.items():
        tree = sw.Tree.fromstring(text)
        for span in set(spans_of(tree)):
            constituents[span] += share
        for at, tag in enumerate(tags_of(tree)):
            tags[at, at + 1, tag] += share
    for some, expected in ((chart.constituents(0.0), constituents), (chart.tags(0.0), tags)):
        found = {(one.begin, one.end, one.label): one.probability for one in some}
        assert found.keys() == expected.keys()
        assert all(found[key] == pytest.approx(value, abs=1e-9) for key, value in expected.items())
    assert chart.probabilities(chart.best()) == {
        span: pytest.approx(constituents[span], abs=1e-9) for span in spans_of(chart.best())
    }


@pytest.mark.slow
@pytest.mark.parametrize("words", SENTENCES, ids=len)
def test_minimum_risk_tree_has_the_fewest_expected_errors(parser, words):
    truth, _ = listed(parser, words)
    chart = parser.chart(words)

    def errors(tree: sw.Tree) -> float:
        own = set(spans_of(tree))
        return sum(share * len(own ^ set(spans_of(sw.Tree.fromstring(text)))) for text, share in truth.items())

    found = chart.minimum_risk()
    assert found.leaves() == tuple(words)
    assert errors(found) <= min(errors(sw.Tree.fromstring(text)) for text in truth) + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 3])
def test_charts_of_spans(count):
    parser = specimens.untrained_span_parser()
    words = ["the", "dog", "sees"][:count]
    chart = parser.chart(words)
    best = chart.nbest(10_000)
    trees = [tree for tree in best.parses if isinstance(tree, sw.Tree)]
    assert len(trees) == len(all_trees(count, 3))
    # The tags of all of them are the best ones.
    shares = np.exp(best.scores - chart._best_tags())
    assert shares.sum() == pytest.approx(1, abs=1e-5)
    expected: Counter[tuple] = Counter()
    for tree, share in zip(trees, shares.tolist(), strict=True):
        for span in set(spans_of(tree)):
            expected[span] += share
    found = {(one.begin, one.end, one.label): one.probability for one in chart.constituents(0.0)}
    assert found.keys() == expected.keys()
    assert found[0, count, "TOP"] == 1
    assert all(found[key] == pytest.approx(value, abs=1e-5) for key, value in expected.items())
    assert chart.probabilities(trees[-1]) == {
        span: pytest.approx(expected[span], abs=1e-5) for span in spans_of(trees[-1])
    }

    def errors(tree: sw.Tree) -> float:
        own = set(spans_of(tree))
        return len(own) - 2 * sum(expected[span] for span in own)

    assert errors(chart.minimum_risk()) <= min(map(errors, trees)) + 1e-4


def test_samples_come_as_often_as_they_are_probable(parser):
    words = SENTENCES[0]
    truth, _ = listed(parser, words)
    chart, count = parser.chart(words), 4000
    drawn = Counter(str(tree) for tree in chart.sample(count, random_state=3))
    assert set(drawn) <= set(truth)
    for text, share in truth.items():
        assert abs(drawn[text] - count * share) <= 6 * math.sqrt(count * share * (1 - share)) + 6
    assert [str(a) for a in chart.sample(3, random_state=1)] == [str(a) for a in chart.sample(3, random_state=1)]


@pytest.mark.slow
def test_what_is_pruned_counts_for_nothing(gardener, garden):
    words = max((tree.leaves() for tree in garden[400:430]), key=len)
    pruned = gardener.chart(words)
    whole = PCFGParser(beam=None).fit(garden[:400]).chart(words)
    for chart in (pruned, whole):
        assert all(
            sum(one.probability for one in chart.tags(0.0) if one.begin == at) == pytest.approx(1)
            for at in range(len(words))
        )
        assert np.exp(chart.nbest(200).scores).sum() <= 1 + 1e-9
    assert pruned._forest.total <= whole._forest.total + 1e-9
    # The beam keeps most of what is likely.
    assert pruned.log_probability(whole.best()) >= whole.log_probability(whole.best()) - 1e-9
    assert pruned._forest.total == pytest.approx(whole._forest.total, abs=0.7)


def test_trees_that_cannot_be(parser):
    chart = parser.chart(["the", "man"])
    assert chart.log_probability("(TOP (QQ (DT the) (NN man)))") == -math.inf
    assert chart.log_probability("(TOP (PP (DT the) (NN man)))") == -math.inf
    # The wrapper makes no difference, nor do function tags.
    tree = chart.best().children[0]
    assert chart.log_probability(tree) == chart.log_probability(chart.best()) > -math.inf
    with pytest.raises(DataError, match="other words"):
        chart.log_probability("(TOP (NP (DT the) (NN dog)))")


@pytest.mark.slow
def test_charts_where_there_is_no_tree(parser, garden):
    plain = PCFGParser(max_length=5).fit(TREES)
    with pytest.raises(DataError, match="sentence 1 has 6 words, but charts go up to max_length=5"):
        list(plain.charts([["the", "man"], ["the"] * 6]))
    small = PCFGParser().fit(garden[:60])
    with pytest.raises(DataError, match=r"no tree for 'Hugo \. knows David'"):
        small.chart(["Hugo", ".", "knows", "David"])
    with pytest.raises(DataError, match="raise memory_limit"):
        PCFGParser(memory_limit=1).fit(garden[:400]).chart(garden[7].leaves() * 12)
    with pytest.raises(DataError, match="a list of words"):
        parser.chart("the man")
    # Outside the grammar, but not outside the plainer one behind it.
    found = small.chart(["with", "roller", "the", "was", "The", "painted", "by"])
    assert (found.how, found.nbest(1).how) == ("fallback", "fallback")
    assert found.log_probability(found.best()) == pytest.approx(found.nbest(1).scores[0])


def test_charts_survive_pickling(parser):
    chart = parser.chart(SENTENCES[0])
    again = pickle.loads(pickle.dumps(chart))
    assert again.to_dict() == chart.to_dict()
    assert set(chart.to_dict()) == {"words", "tree", "constituents", "tags", "entropy"}


def test_pictures_are_faint_where_the_parser_is_not_sure(parser):
    chart = max(map(parser.chart, SENTENCES), key=lambda chart: chart.entropy())
    tree = chart.best()
    nodes = chart.node_probabilities(tree)
    assert len(nodes) == tree.size()
    known = chart.probabilities(tree)
    named = [
        share for node, share in zip(tree.preorder(), nodes, strict=True)
        if not node.is_leaf and not (len(node.children) == 1 and node.children[0].is_leaf)
    ]  # fmt: skip
    assert sorted(named) == pytest.approx(sorted(known[span] for span in spans_of(tree)))
    picture = chart.svg()
    assert chart._repr_html_() == picture
    unsure = min(nodes)
    assert unsure < 0.95
    assert f">{100 * unsure:.0f}%<" in picture
    opacities = [float(found) for found in re.findall(r' fill-opacity="([\d.]+)"', picture)]
    # Black at this opacity is #6b6b6b on white; 4.5 to 1 is #767676.
    assert 0.58 <= min(opacities) < 1
    assert min(float(found) for found in re.findall(r' stroke-opacity="([\d.]+)"', picture)) < 0.95
    assert "#010" not in picture
    assert f"{100 * unsure:.0f}%" in chart.text()
    with pytest.raises(DataError, match="other words"):
        chart.svg(sw.Tree.fromstring("(S (NN x))"))
    odd = sw.Tree("S", [sw.Tree('fill="#010203"', [sw.Tree(word)]) for word in chart.words])
    assert 'fill="#010203"' in chart.svg(odd).replace("&quot;", '"')
