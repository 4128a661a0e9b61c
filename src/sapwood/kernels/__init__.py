"""Two arrays in, numbers out: tree kernels, kernels on flat features, their algebra, and explicit feature maps."""

from typing import TYPE_CHECKING

from sapwood.kernels.base import Kernel
from sapwood.kernels.expression import parse_kernel
from sapwood.kernels.flat import RBF, Linear, Polynomial
from sapwood.kernels.grammar_driven import PENN_TAG_SETS, GrammarDriven
from sapwood.kernels.pairs import CrossPair
from sapwood.kernels.semantic import SemanticSubsetTree, SmoothedPartialTree
from sapwood.kernels.syntactic import PartialTree, SubsetTree, Subtree
from sapwood.lazy import lazy_names

if TYPE_CHECKING:
    from sapwood.kernels.hashing import HashedFragmentMap
    from sapwood.kernels.landmarks import LandmarkMap
    from sapwood.kernels.maps import FragmentMap, SubtreeMap

__all__ = [
    "PENN_TAG_SETS",
    "RBF",
    "CrossPair",
    "FragmentMap",
    "GrammarDriven",
    "HashedFragmentMap",
    "Kernel",
    "LandmarkMap",
    "Linear",
    "PartialTree",
    "Polynomial",
    "SemanticSubsetTree",
    "SmoothedPartialTree",
    "SubsetTree",
    "Subtree",
    "SubtreeMap",
    "parse_kernel",
]

# The maps are scikit-learn estimators, and importing it takes longer than computing most kernels.
__getattr__, __dir__ = lazy_names(
    __name__, {"FragmentMap": "maps", "HashedFragmentMap": "hashing", "LandmarkMap": "landmarks", "SubtreeMap": "maps"}
)
