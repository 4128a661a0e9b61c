"""Other parses of a sentence: what a parser might have made of it, beside the gold tree.

Each alternative is the gold tree after one or two edits: a prepositional phrase attached higher, lower or to the last
conjunct, an adjective over one conjunct or both, another tag, another label. The scores stand in for a parser's log
probabilities; they lean towards high attachment and are a little noisy, so that the best score is not always the gold
tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

from sapwood.trees.tree import Tree

__all__ = ["alternatives"]

_TAGS = {
    "VBD": ("VBN",),
    "VBN": ("VBD", "JJ"),
    "VBG": ("JJ", "NN"),
    "JJ": ("NN",),
    "VB": ("VBP",),
    "VBP": ("VB",),
    "VBZ": ("NNS",),
    "NNP": ("NN",),
    "WDT": ("WP",),
    "TO": ("IN",),
}
_LABELS = {"SBARQ": ("S", "SBAR"), "SQ": ("S", "VP"), "WHADVP": ("ADVP",), "WHPP": ("PP",), "WHNP": ("NP",)}
_COSTS = {"raise": -0.2, "lower": 0.6, "chain": 0.9, "conjunct": 0.7, "scope": 0.6, "tag": 1.2, "label": 1.4}

Path = tuple[int, ...]


def alternatives(gold: Tree, *, limit: int, uniform: Callable[[], float]) -> list[tuple[float, Tree]]:
    """Return the gold tree and its alternatives with scores, best score first.

    Parameters
    ----------
    gold : Tree
        The correct tree.
    limit : int
        How many trees to return at most, the gold tree included.
    uniform : callable
        Gives random numbers in [0, 1).
    """
    costs: dict[Tree, float] = {gold: 0.0}
    # Single edits come first, then edits of edited trees, until there are enough to choose from.
    for edited, cost in _search(gold):
        costs.setdefault(edited, cost)
        if len(costs) >= 2 * limit:
            break
    # A longer sentence is less likely, whatever its tree.
    base = -6.0 * len(gold.leaves())
    scored = [(round(base - cost + 2.4 * (uniform() - 0.5), 3), tree) for tree, cost in costs.items()]
    # Python's sort keeps the order of equal scores, so nothing here depends on hashing.
    chosen = [scored[0], *sorted(scored[1:], key=lambda pair: -pair[0])[: limit - 1]]
    return sorted(chosen, key=lambda pair: -pair[0])


def _search(gold: Tree) -> Iterator[tuple[Tree, float]]:
    order = [(gold, 0.0)]
    for tree, cost in order:
        for kind, edited in _edits(tree):
            order.append((edited, cost + _COSTS[kind]))
            yield order[-1]
        if len(order) > 100:
            return


def _edits(tree: Tree) -> Iterator[tuple[str, Tree]]:
    nodes = list(_nodes(tree))
    for path, node in nodes:
        labels = [child.label for child in node.children]
        if node.label == "VP":
            for at, (left, right) in enumerate(pairwise(labels)):
                if (left, right) == ("NP", "PP"):
                    joined = Tree("NP", node.children[at : at + 2])
                    low = [*node.children[:at], joined, *node.children[at + 2 :]]
                    yield "lower", _replaced(tree, path, Tree("VP", low))
                    conjuncts = node.children[at].children
                    if [part.label for part in conjuncts] == ["NP", "CC", "NP"]:
                        # The phrase goes to the last conjunct alone: a bracket that crosses one of the gold tree.
                        last = Tree("NP", [conjuncts[2], node.children[at + 1]])
                        crossed = Tree("NP", [*conjuncts[:2], last])
                        within = [*node.children[:at], crossed, *node.children[at + 2 :]]
                        yield "conjunct", _replaced(tree, path, Tree("VP", within))
                if (left, right) == ("PP", "PP"):
                    head, inner = node.children[at].children
                    chained = Tree("PP", [head, Tree("NP", [inner, node.children[at + 1]])])
                    chain = [*node.children[:at], chained, *node.children[at + 2 :]]
                    yield "chain", _replaced(tree, path, Tree("VP", chain))
            for at, child in enumerate(node.children):
                if child.label == "NP" and [part.label for part in child.children] == ["NP", "PP"]:
                    high = [*node.children[:at], *child.children, *node.children[at + 1 :]]
                    yield "raise", _replaced(tree, path, Tree("VP", high))
        if labels == ["NP", "CC", "NP"] and len(node.children[0].children) > 1:
            flat = [*node.children[0].children, node.children[1], *node.children[2].children]
            yield "scope", _replaced(tree, path, Tree("NP", flat))
    for path, node in nodes:
        kind, renamings = ("tag", _TAGS) if node.children[0].is_leaf else ("label", _LABELS)
        for label in renamings.get(node.label, ()):
            yield kind, _replaced(tree, path, Tree(label, node.children))


def _nodes(tree: Tree) -> Iterator[tuple[Path, Tree]]:
    stack: list[tuple[Path, Tree]] = [((), tree)]
    while stack:
        path, node = stack.pop()
        if not node.is_leaf:
            yield path, node
            stack.extend(((*path, at), child) for at, child in reversed(list(enumerate(node.children))))


def _replaced(tree: Tree, path: Path, new: Tree) -> Tree:
    above = [tree]
    for at in path:
        above.append(above[-1].children[at])
    for node, at in zip(reversed(above[:-1]), reversed(path), strict=True):
        new = Tree._trusted(node.label, (*node.children[:at], new, *node.children[at + 1 :]))
    return new
