"""What a tree is, how it is read, written and reshaped."""

from sapwood.lazy import public_names
from sapwood.trees.array import TreeArray, concatenate
from sapwood.trees.examples import Examples
from sapwood.trees.grammar import Grammar
from sapwood.trees.heads import HeadTable
from sapwood.trees.positions import Positions
from sapwood.trees.propositions import Argument, Proposition, RoleSentence
from sapwood.trees.transforms import (
    binarize,
    collapse_unary,
    delexicalize,
    map_leaves,
    relabel,
    rewrite,
)
from sapwood.trees.tree import Tree
from sapwood.trees.treebank import iter_tree_blocks, iter_trees, read_trees, write_trees

__all__ = [
    "Argument",
    "Examples",
    "Grammar",
    "HeadTable",
    "Positions",
    "Proposition",
    "RoleSentence",
    "Tree",
    "TreeArray",
    "binarize",
    "collapse_unary",
    "concatenate",
    "delexicalize",
    "iter_tree_blocks",
    "iter_trees",
    "map_leaves",
    "read_trees",
    "relabel",
    "rewrite",
    "write_trees",
]

__dir__ = public_names(__name__)
