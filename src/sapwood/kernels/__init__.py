"""Two arrays in, numbers out: tree kernels, kernels on flat features, and their algebra."""

from sapwood.kernels.base import Kernel
from sapwood.kernels.expression import parse_kernel
from sapwood.kernels.flat import Linear, Polynomial
from sapwood.kernels.grammar_driven import PENN_TAG_SETS, GrammarDriven
from sapwood.kernels.semantic import SemanticSubsetTree, SmoothedPartialTree
from sapwood.kernels.syntactic import PartialTree, SubsetTree, Subtree
from sapwood.trees.grammar import Grammar

__all__ = [
    "PENN_TAG_SETS",
    "Grammar",
    "GrammarDriven",
    "Kernel",
    "Linear",
    "PartialTree",
    "Polynomial",
    "SemanticSubsetTree",
    "SmoothedPartialTree",
    "SubsetTree",
    "Subtree",
    "parse_kernel",
]
