"""The closed list of names that kernel expressions and model files may use, and where each lives.

A name is looked up here and nowhere else, so neither a command line nor a file can reach any other code. Modules are
imported when their name is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["COMBINATIONS", "INGREDIENTS", "KERNELS", "find"]

# Kernels that stand by themselves.
KERNELS = {
    "Constant": "sapwood.kernels.algebra",
    "CrossPair": "sapwood.kernels.pairs",
    "GrammarDriven": "sapwood.kernels.grammar_driven",
    "Linear": "sapwood.kernels.flat",
    "PartialTree": "sapwood.kernels.syntactic",
    "Polynomial": "sapwood.kernels.flat",
    "Precomputed": "sapwood.kernels.given",
    "RBF": "sapwood.kernels.flat",
    "SemanticSubsetTree": "sapwood.kernels.semantic",
    "SmoothedPartialTree": "sapwood.kernels.semantic",
    "SubsetTree": "sapwood.kernels.syntactic",
    "Subtree": "sapwood.kernels.syntactic",
}

# Kernels made of others; expressions write them with operators and methods.
COMBINATIONS = {
    "Named": "sapwood.kernels.algebra",
    "Normalized": "sapwood.kernels.algebra",
    "OnView": "sapwood.kernels.algebra",
    "Power": "sapwood.kernels.algebra",
    "Product": "sapwood.kernels.algebra",
    "Scaled": "sapwood.kernels.algebra",
    "Sum": "sapwood.kernels.algebra",
}

# What kernels take as arguments beside plain values.
INGREDIENTS: dict[str, str] = {
    "Contextual": "sapwood.words",
    "Folded": "sapwood.words",
    "Inflected": "sapwood.words",
    "Latent": "sapwood.words",
    "Table": "sapwood.words",
    "Tagged": "sapwood.words",
    "Taxonomy": "sapwood.words",
    "WordNet": "sapwood.words",
    "WordProduct": "sapwood.words.base",
    "WordScaled": "sapwood.words.base",
    "WordSum": "sapwood.words.base",
    "Grammar": "sapwood.trees.grammar",
    "HeadTable": "sapwood.trees.heads",
}


def find(name: str) -> Any:
    """Return the class behind a name of one of the three lists."""
    home = KERNELS.get(name) or COMBINATIONS.get(name) or INGREDIENTS[name]
    return getattr(import_module(home), name)
