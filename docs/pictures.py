"""The pictures of the site, all drawn by Sapwood when it is built: ``{picture} name`` puts one into a page."""

from __future__ import annotations

import functools
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from sklearn.svm import LinearSVC

import sapwood as sw
from sapwood.corpora import conllu, nursery
from sapwood.draw import Bar, LabeledSpan, Series, SpanLayer, bar_chart, line_chart, linked_svg, span_svg
from sapwood.draw.picture import Picture
from sapwood.draw.svg import weighted_svg
from sapwood.kernels import FragmentMap, GrammarDriven, Kernel, SubsetTree
from sapwood.kernels.attribution import Differences
from sapwood.learn import KernelSVC
from sapwood.parse import PCFGParser
from sapwood.trees import Argument, Grammar, Proposition, RoleSentence

BAKER = "(S (NP (DT The) (NN baker)) (VP (VBD sent) (NP (NNP Anna)) (NP (DT a) (JJ long) (NN letter))))"
CAPTAIN = "(S (NP (DT The) (NN captain)) (VP (VBD sent) (NP (NNP Anna)) (NP (DT a) (JJ red) (NN rose))))"
QUESTION = "(SBARQ (WHNP (WP Who)) (SQ (VP (VBD wrote) (NP (PRP it)))))"
DRAWN: dict[str, Callable[[], str]] = {}


def drawn(function: Callable[[], str]) -> Callable[[], str]:
    """Offer a picture under the name of its function."""
    DRAWN[function.__name__.replace("_", "-")] = functools.cache(function)
    return function


def draw(name: str) -> str:
    """Return a picture as HTML."""
    return DRAWN[name]()


def beside(pictures: Iterable[str]) -> str:
    """Put pictures side by side, or below each other where there is no room."""
    both = "".join(f'<div style="min-width:0">{one}</div>' for one in pictures)
    return f'<div style="display:flex;flex-wrap:wrap;gap:2em">{both}</div>'


def without_table(text: str) -> str:
    """Keep the pictures of an explanation alone."""
    return re.sub("<table.*</table>", "", text, flags=re.DOTALL)


def alone(text: str) -> str:
    """Make a picture a file of its own, which follows the reader's wish for light or dark."""
    return Picture(text).standalone()


@drawn
def tree() -> str:
    return sw.Tree.fromstring("(S (NP (DT the) (NN dog)) (VP (VBD barked)))")._repr_svg_()


@drawn
def array() -> str:
    return sw.TreeArray([BAKER, CAPTAIN] * 20)._repr_html_()


@drawn
def shared() -> str:
    return without_table(SubsetTree(decay=0.4).normalized().explain(BAKER, CAPTAIN, top=500)._repr_html_())


@functools.cache
def classifier() -> KernelSVC:
    questions = [
        "(SBARQ (WHNP (WP Who)) (SQ (VP (VBD ran))))",
        "(SBARQ (WHNP (WP Who)) (SQ (VP (VBD fell))))",
        "(SBARQ (WHADVP (WRB Where)) (SQ (VBD was) (NP (PRP it))))",
        "(SBARQ (WHADVP (WRB Where)) (SQ (VBD did) (NP (PRP it)) (VP (VB fall))))",
    ]
    kernel = SubsetTree(decay=0.4).normalized()
    return KernelSVC(kernel).fit(questions, ["person", "person", "place", "place"])


@drawn
def explained() -> str:
    return without_table(classifier().explain(QUESTION)._repr_html_())


@drawn
def card_question() -> str:
    (tree,) = classifier().explain(QUESTION).trees
    return weighted_svg(tree.tree, tree.contributions.tolist())


@drawn
def roles() -> str:
    words = ["The", "baker", "sent", "Anna", "a", "letter", "because", "he", "likes", "her"]
    sent = [("A0", 0, 1), ("V", 2, 2), ("A2", 3, 3), ("A1", 4, 5), ("AM-CAU", 6, 9)]
    likes = [("A0", 7, 7), ("V", 8, 8), ("A1", 9, 9)]
    found = (("send", 2, sent), ("like", 8, likes))
    return RoleSentence(
        tuple(words), tuple(Proposition(at, name, tuple(Argument(*one) for one in all_)) for name, at, all_ in found)
    )._repr_html_()


@drawn
def frames() -> str:
    words = ["The", "baker", "sent", "Anna", "a", "long", "letter", "about", "the", "harvest", "."]
    sending = SpanLayer(
        "Sending", [LabeledSpan("Sender", 0, 1), LabeledSpan("Recipient", 3, 3), LabeledSpan("Theme", 4, 9)], marked=[2]
    )
    text = SpanLayer("Text", [LabeledSpan("Text", 4, 6), LabeledSpan("Topic", 7, 9)], marked=[6])
    return span_svg(words, [sending, text])


@drawn
def one_frame() -> str:
    layer = SpanLayer(
        "Sending", [LabeledSpan("Sender", 0, 1), LabeledSpan("Recipient", 3, 3), LabeledSpan("Theme", 4, 6)], marked=[2]
    )
    return span_svg(["The", "baker", "sent", "Anna", "a", "long", "letter"], [layer])


@drawn
def chart() -> str:
    parser = PCFGParser().fit(nursery.generate(size=200).trees)
    return parser.chart(["Anna", "saw", "the", "child", "with", "the", "old", "scarf", "."]).svg()


@drawn
def words() -> str:
    first = sw.Tree.fromstring("(S (NP (DT the) (NN dog)) (VP (VBD chased) (NP (DT a) (NN cat))))")
    second = sw.Tree.fromstring("(S (NP (DT the) (NN puppy)) (VP (VBD followed) (NP (DT a) (NN kitten))))")
    return linked_svg(first, second, [(0, 0, 1.0), (1, 1, 0.7), (2, 2, 0.5), (3, 3, 1.0), (4, 4, 0.6)])


@drawn
def pairs() -> str:
    first = sw.Tree.fromstring("(SBARQ (WHADVP (WRB How)) (SQ (MD can) (NP (PRP I)) (VP (VB learn) (NP (NN chess)))))")
    second = sw.Tree.fromstring("(SBARQ (WHADVP (WRB How)) (SQ (VBP do) (NP (PRP I)) (VP (VB study) (NP (NN chess)))))")
    return linked_svg(first, second, [(0, 0, 1.0), (2, 2, 1.0), (3, 3, 0.5), (4, 4, 1.0)])


@drawn
def nearest() -> str:
    query = "(S (NP (DT the) (NN bird)) (VP (VBD chased) (NP (DT the) (NN cat))))"
    hit = "(S (NP (DT the) (NN dog)) (VP (VBD chased) (NP (DT the) (NN cat))))"
    return without_table(SubsetTree(decay=0.4).normalized().explain(query, hit, top=500)._repr_html_())


@drawn
def edits() -> str:
    first, second = (sw.Tree.fromstring(one) for one in ("(NP (DT a) (NN dog))", "(NP (DT a) (JJ big) (NN cat))"))
    return linked_svg(first, second, [(0, 0, 1.0), (1, 2, 0.3)])


@drawn
def forest() -> str:
    return nursery.generate(size=40).forest(3)._repr_html_()


@drawn
def optional() -> str:
    first = "(NP (DT a) (JJ red) (NN car))"
    trees = [sw.Tree.fromstring(one) for one in (first, "(NP (DT a) (NN car))", "(NP (DT the) (JJ old) (NN house))")]
    kernel = GrammarDriven(Grammar.from_trees(trees)).normalized()
    return without_table(kernel.explain(first, "(NP (DT a) (NN car))")._repr_html_())


@drawn
def attachment() -> str:
    high = "(VP (VBD saw) (NP (DT the) (NN man)) (PP (IN with) (NP (NN telescope))))"
    low = "(VP (VBD saw) (NP (NP (DT the) (NN man)) (PP (IN with) (NP (NN telescope)))))"
    return beside(sw.Tree.fromstring(one)._repr_svg_() for one in (high, low))


@drawn
def pattern() -> str:
    tree = sw.Tree.fromstring(
        "(S (NP (DT the) (NN dog)) (VP (VBD chased) (NP (NNP Felix)) (PP (IN in) (NP (NNP Rome)))))"
    )
    nodes = list(tree.preorder())
    found = [number for number, node in enumerate(nodes) if node.label == "NP" and node.children[0].label == "NNP"]
    return weighted_svg(tree, [0.0] * len(nodes), marked=found)


@drawn
def brackets() -> str:
    gold = sw.Tree.fromstring("(S (NP (PRP she)) (VP (VBD saw) (NP (NN rain)) (PP (IN in) (NP (NN May)))) (. .))")
    parse = sw.Tree.fromstring("(S (NP (PRP she)) (VP (VBD saw) (NP (NP (NN rain)) (PP (IN in) (NP (NN May))))) (. .))")
    wrong = next(number for number, node in enumerate(parse.preorder()) if len(node.leaves()) == 3)
    weights = [float(number == wrong) for number in range(parse.size())]
    return beside([gold._repr_svg_(), weighted_svg(parse, weights, marked=[wrong])])


@drawn
def shapes() -> str:
    rows = (
        "1 Ann Ann PROPN NNP _ 2 nsubj _ _",
        "2 saw see VERB VBD _ 0 root _ _",
        "3 old old ADJ JJ _ 4 amod _ _",
        "4 ships ship NOUN NNS _ 2 obj _ _",
        "5 . . PUNCT . _ 2 punct _ _",
    )
    (sentence,) = conllu.read(io.StringIO("\n".join(rows).replace(" ", "\t") + "\n\n"))
    return beside(sentence.to_tree(shape)._repr_svg_() for shape in ("relation", "lexical", "words"))


@drawn
def fragments() -> str:
    asked = [one for one in nursery.generate(size=400).sentences if one.label is not None]
    trees, labels = sw.TreeArray([one.tree for one in asked]), [one.label[0] == "NUM" for one in asked]
    columns = FragmentMap(min_df=2, max_size=3, select="chi2", n_fragments=300)
    weights = LinearSVC().fit(columns.fit_transform(trees, labels), labels).coef_[0]
    names = columns.get_feature_names_out()
    bars = [Bar(names[one], float(weights[one])) for one in np.argsort(-weights, kind="stable")[:8]]
    return bar_chart("The heaviest fragments of questions for numbers", bars, label="weight", decimals=2)


@drawn
def copies() -> str:
    first = sw.Tree.fromstring("(for name name (block (+= name (* name number))))")
    second = sw.Tree.fromstring("(for name name (block (if name (block (+= name (* name number))))))")
    pieces = []
    for tree in (first, second):
        nodes = list(tree.preorder())
        top = next(at for at, node in enumerate(nodes) if node.label == "+=")
        shared = range(top, top + nodes[top].size())
        pieces.append(weighted_svg(tree, [float(at in shared) for at in range(len(nodes))], marked=shared))
    return beside(pieces)


class SharedLabels(Kernel):
    """The kernel of own-kernel.md."""

    def _gram(self, X: sw.TreeArray, Y: sw.TreeArray | None) -> np.ndarray:
        rows, columns = (
            [
                Counter((node.label, node.is_leaf) for node in tree.preorder())
                for tree in (X if trees is None else trees)
            ]
            for trees in (X, Y)
        )
        return np.array([[sum(a[key] * b[key] for key in a) for b in columns] for a in rows], dtype=float)

    def _attribution(self, X: sw.TreeArray, weights: np.ndarray) -> Differences:
        return Differences(self._expansion(X, weights))


@drawn
def own_kernel() -> str:
    asked = ["(S (WH who) (V runs))", "(S (WH what) (V ran))", "(S (WH who) (V sat))", "(S (WH what) (V runs))"]
    told = ["(S (N dogs) (V run))", "(S (N he) (V ran))", "(S (N she) (V sat))", "(S (N dogs) (V ran))"]
    model = KernelSVC(SharedLabels()).fit(asked + told, ["ask"] * 4 + ["tell"] * 4)
    return without_table(model.explain("(S (WH who) (V barks))")._repr_html_())


def rows_of(page: str, pattern: str) -> list[tuple[str, ...]]:
    """Return what a pattern finds in the lines of a page, so that a chart shows the figures that stand there."""
    text = (Path(__file__).parent / f"{page}.md").read_text(encoding="utf-8")
    found = re.findall(pattern, text, flags=re.MULTILINE)
    if not found:
        raise ValueError(f"{page}.md: no line is like {pattern}")
    return found


@drawn
def training_costs() -> str:
    found = rows_of("training", r"^ *([\d,]+) +[\d,]+ +[\d,]+ +([\d.]+) +([\d.]+) +[\d.]+ +[\d.]+$")
    rows = [[float(one.replace(",", "")) for one in row] for row in found]
    return line_chart(
        "CPU seconds of training by the number of arguments",
        [
            Series(name, [row[0] for row in rows], [row[at] for row in rows])
            for name, at in (("tables", 1), ("solver", 2))
        ],
        x_label="arguments",
        y_label="CPU seconds",
        x_log=True,
        y_log=True,
    )


@drawn
def speedups() -> str:
    rows = rows_of("speed", r"^((?:Gram|Prediction) (\w+).*?)  .* rival's (\w+) +([\d.]+)x")
    bars = [Bar(name, float(ratio), name.split()[0]) for name, kernel, rival, ratio in rows if kernel == rival]
    return bar_chart(
        "Times as fast as a C++ program that compares pair by pair", bars, label="times as fast", decimals=0
    )


@drawn
def card_roles() -> str:
    arguments = (("A0", 0, 1), ("V", 2, 2), ("A2", 3, 3), ("A1", 4, 5), ("AM-TMP", 6, 6))
    words = ("The", "baker", "sent", "Anna", "a", "letter", "yesterday")
    return RoleSentence(words, (Proposition(2, "send", tuple(Argument(*one) for one in arguments)),))._repr_html_()


@drawn
def card_frame() -> str:
    spans = [LabeledSpan("Buyer", 0, 0), LabeledSpan("Goods", 2, 4), LabeledSpan("Seller", 5, 6)]
    words = ["Kim", "bought", "an", "old", "car", "from", "Lee"]
    return span_svg(words, [SpanLayer("Commerce_buy", spans, marked=[1])])


@drawn
def card_pairs() -> str:
    first, second = (
        sw.Tree.fromstring(f"(S {' '.join(f'({tag} {word})' for tag, word in zip(tags, words.split(), strict=True))})")
        for tags, words in (
            (("WRB", "MD", "PRP", "VB", "NN"), "How can I learn chess"),
            (("WRB", "VBP", "PRP", "VB", "NN"), "How do I study chess"),
        )
    )
    return linked_svg(first, second, [(0, 0, 1.0), (2, 2, 1.0), (3, 3, 0.5), (4, 4, 1.0)])


@drawn
def card_shared() -> str:
    return re.search("<svg.*?</svg>", shared(), flags=re.DOTALL)[0]
