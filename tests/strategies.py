"""Random trees and roles for Hypothesis: small, with few labels, so that matches abound."""

from __future__ import annotations

from hypothesis import strategies as st

from sapwood import Tree
from sapwood.trees import Argument, Proposition, RoleSentence

# The same labels for leaves and internal nodes: a label may be a leaf in one place and internal in another.
LABELS = "abc"


def trees(max_leaves: int = 6, labels: str = LABELS, width: int = 3) -> st.SearchStrategy[Tree]:
    """Trees with unary chains, repeated children and labels that are leaf here and internal there."""
    label = st.sampled_from(labels)

    def grow(child: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
        several = st.lists(child, min_size=1, max_size=width)
        twins = st.tuples(child, st.integers(1, width)).map(lambda pair: [pair[0]] * pair[1])
        return st.builds(Tree, label, st.one_of(several, twins))

    return st.recursive(label.map(Tree), grow, max_leaves=max_leaves)


def internal_trees(max_leaves: int = 6, labels: str = LABELS, width: int = 3) -> st.SearchStrategy[Tree]:
    """Trees of more than one node, which share something with themselves under every kernel."""
    kids = st.lists(trees(max_leaves, labels, width), min_size=1, max_size=width)
    return st.builds(Tree, st.sampled_from(labels), kids)


def chains(max_length: int = 12) -> st.SearchStrategy[Tree]:
    """Unary chains."""

    def build(labels: list[str]) -> Tree:
        tree = Tree(labels[0])
        for label in labels[1:]:
            tree = Tree(label, [tree])
        return tree

    return st.lists(st.sampled_from("ab"), min_size=1, max_size=max_length).map(build)


def wide(max_width: int = 9) -> st.SearchStrategy[Tree]:
    """One node with many children, some of them internal."""
    child = st.one_of(st.sampled_from("ab").map(Tree), st.builds(lambda x: Tree("a", [x]), st.sampled_from("ab")))
    return st.lists(child, min_size=1, max_size=max_width).map(lambda kids: Tree("s", kids))


def bags(max_size: int = 3) -> st.SearchStrategy[list[Tree]]:
    """Bags of trees, possibly empty."""
    return st.lists(trees(4), max_size=max_size)


# Text that bracket notation can express: anything but brackets, white space and NUL.
_PLAIN = st.characters(exclude_categories=["Cs"], exclude_characters="() \t\n\x0b\x0c\r\0")
tokens = st.text(_PLAIN, min_size=1, max_size=6)
# What a label of a tree built in Python may be.
labels = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)


def trees_over(label: st.SearchStrategy[str], max_leaves: int = 8) -> st.SearchStrategy[Tree]:
    """Trees whose labels come from a strategy."""
    return st.recursive(
        label.map(Tree),
        lambda child: st.builds(Tree, label, st.lists(child, min_size=1, max_size=4)),
        max_leaves=max_leaves,
    )


decays = st.sampled_from([0.1, 0.4, 0.7, 1.0])


@st.composite
def role_sentences(draw: st.DrawFn) -> RoleSentence:
    """Sentences without words, with arguments anywhere that do not overlap."""
    length = draw(st.integers(1, 8))
    predicates = draw(st.lists(st.integers(0, length - 1), unique=True, max_size=3))
    made = []
    for predicate in sorted(predicates):
        cuts = draw(st.lists(st.integers(0, length), unique=True, max_size=5).map(sorted))
        roles = st.sampled_from(["A0", "AM-TMP", "C-A0", "R-A1", "V"])
        made.append(
            Proposition(
                predicate,
                "be",
                tuple(Argument(draw(roles), a, b - 1) for a, b in zip(cuts[::2], cuts[1::2], strict=False)),
            )
        )
    return RoleSentence(("_",) * length, tuple(made))
