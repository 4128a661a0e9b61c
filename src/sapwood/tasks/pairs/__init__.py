"""Do two sentences mean the same? Features of a pair from words, syntax and meaning, and a classifier on them.

Pairs come as trees, or as text with a parser of ``sapwood.parse`` or any other. Readers of files of pairs are in
``sapwood.corpora``.
"""

from typing import TYPE_CHECKING

from sapwood.lazy import lazy_names

if TYPE_CHECKING:
    from sapwood.tasks.pairs.classifier import PairClassifier
    from sapwood.tasks.pairs.features import PairFeatures
    from sapwood.tasks.pairs.relaxed import relaxed_grammar, relaxed_kernel

__all__ = ["PairClassifier", "PairFeatures", "relaxed_grammar", "relaxed_kernel"]

_HOMES = {
    "PairClassifier": "classifier",
    "PairFeatures": "features",
    "relaxed_grammar": "relaxed",
    "relaxed_kernel": "relaxed",
}

# Estimators import scikit-learn, which takes longer than everything else here.
__getattr__, __dir__ = lazy_names(__name__, _HOMES)
