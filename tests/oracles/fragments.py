"""Random trees, and slow, obvious twins of fragments: every fragment of a small tree, listed one by one."""

from __future__ import annotations

import itertools
from collections import Counter

from hypothesis import strategies as st

from oracles.tree_kernels import affordable, nodes
from sapwood import Tree

# The same labels for leaves and internal nodes: a label may be a leaf in one place and internal in another.
_LABEL = st.sampled_from("abc")


def _grow(child):
    several = st.lists(child, min_size=1, max_size=3)
    twins = st.tuples(child, st.integers(1, 3)).map(lambda pair: [pair[0]] * pair[1])
    return st.builds(Tree, _LABEL, st.one_of(several, twins))


any_trees = st.recursive(_LABEL.map(Tree), _grow, max_leaves=5)
internal_trees = st.builds(Tree, _LABEL, st.lists(any_trees, min_size=1, max_size=3))
# Partial trees leave out children, so that even a dozen nodes hold thousands of fragments.
small_trees = any_trees.filter(lambda tree: tree.size() <= 8)
decays = st.sampled_from([0.1, 0.4, 0.7, 1.0])


def height(tree: Tree) -> int:
    return 1 + max(map(height, tree.children)) if tree.children else 0


def size(tree: Tree) -> int:
    """Internal nodes."""
    return bool(tree.children) + sum(map(size, tree.children))


def rooted(node: Tree) -> list[Tree]:
    """Every fragment that hangs from a node and keeps productions whole."""
    if node.is_leaf:
        return []
    options = [[Tree(child.label), *rooted(child)] for child in node.children]
    affordable(map(len, options))
    return [Tree(node.label, chosen) for chosen in itertools.product(*options)]


def fragments(tree: Tree, *, max_depth: int | None = None, bag_of_words: bool = False) -> Counter[Tree]:
    """How often a tree holds each fragment; a bare leaf is one only with the bag of words."""
    found: Counter[Tree] = Counter()
    for node in nodes(tree):
        if node.is_leaf and bag_of_words:
            found[node] += 1
        for fragment in rooted(node):
            if max_depth is None or height(fragment) <= max_depth:
                found[fragment] += 1
    return found


def subtrees(tree: Tree) -> Counter[Tree]:
    """How often a tree holds each complete subtree."""
    return Counter(node for node in nodes(tree) if not node.is_leaf)


def weight(fragment: Tree, decay: float) -> float:
    """λ^size; a bare leaf counts as one production."""
    return decay ** max(1, size(fragment))


def partial_rooted(node: Tree, decay: float, depth_decay: float, limit: int | None, leaves: bool) -> dict[Tree, float]:
    """Every fragment that hangs from a node and may leave out children, with its feature value."""
    if node.is_leaf and not leaves:
        return {}
    found = {Tree(node.label): depth_decay**0.5 * decay}
    below = [partial_rooted(child, decay, depth_decay, limit, leaves) for child in node.children]
    affordable(1 + len(fragments_below) for fragments_below in below)
    for length in range(1, min(limit or len(below), len(below)) + 1):
        for chosen in itertools.combinations(range(len(below)), length):
            gaps = chosen[-1] - chosen[0] + 1 - length
            for parts in itertools.product(*(below[index].items() for index in chosen)):
                fragment = Tree(node.label, [part for part, _ in parts])
                value = depth_decay**0.5 * decay**gaps
                for _, factor in parts:
                    value *= factor
                found[fragment] = found.get(fragment, 0.0) + value
    return found


def partial_fragments(
    tree: Tree, *, decay: float, depth_decay: float, limit: int | None = None, leaves: bool = True
) -> dict[Tree, float]:
    """The feature vector of the partial-tree kernel."""
    found: dict[Tree, float] = {}
    for node in nodes(tree):
        for fragment, value in partial_rooted(node, decay, depth_decay, limit, leaves).items():
            found[fragment] = found.get(fragment, 0.0) + value
    return found
