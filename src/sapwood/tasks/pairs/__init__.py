"""Do two sentences mean the same? Features of a pair from words, syntax and meaning, and a classifier on them.

Pairs come as trees, or as text with a parser of ``sapwood.parse`` or any other; reading files of pairs is the business
of ``sapwood.corpora``.
"""

from typing import TYPE_CHECKING

from sapwood.lazy import lazy_names
from sapwood.tasks.pairs.loosened import LOOSE_TAG_SETS, loosened_grammar, loosened_kernel

if TYPE_CHECKING:
    from sapwood.tasks.pairs.classifier import PairClassifier, PairExplanation
    from sapwood.tasks.pairs.features import DECAYS, GROUPS, POST_DECAYS, PairFeatures
    from sapwood.tasks.pairs.reading import as_pairs, read_pair_trees

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
    "read_pair_trees",
]

_HOMES = {
    "DECAYS": "features",
    "GROUPS": "features",
    "POST_DECAYS": "features",
    "PairClassifier": "classifier",
    "PairExplanation": "classifier",
    "PairFeatures": "features",
    "as_pairs": "reading",
    "read_pair_trees": "reading",
}

# Estimators import scikit-learn, which takes longer than most of what else is here.
__getattr__, __dir__ = lazy_names(__name__, _HOMES)
