"""Do two sentences mean the same? Features of a pair from words, syntax and meaning, and a classifier on them.

Pairs come as trees; from text to trees is the business of ``sapwood.parse``, reading files of pairs that of
``sapwood.corpora``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sapwood.tasks.pairs.loosened import LOOSE_TAG_SETS, loosened_grammar, loosened_kernel

if TYPE_CHECKING:
    from sapwood.tasks.pairs.classifier import PairClassifier, PairExplanation
    from sapwood.tasks.pairs.features import DECAYS, GROUPS, POST_DECAYS, PairFeatures
    from sapwood.tasks.pairs.members import as_pairs

__all__ = [
    "DECAYS",
    "GROUPS",
    "LOOSE_TAG_SETS",
    "POST_DECAYS",
    "PairClassifier",
    "PairExplanation",
    "PairFeatures",
    "as_pairs",
    "loosened_grammar",
    "loosened_kernel",
]

_HOMES = {
    "DECAYS": "features",
    "GROUPS": "features",
    "POST_DECAYS": "features",
    "PairClassifier": "classifier",
    "PairExplanation": "classifier",
    "PairFeatures": "features",
    "as_pairs": "members",
}


def __getattr__(name: str) -> Any:
    # Estimators import scikit-learn, which takes longer than most of what else is here.
    if name in _HOMES:
        return getattr(import_module(f"sapwood.tasks.pairs.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'sapwood.tasks.pairs' has no attribute {name!r}")
