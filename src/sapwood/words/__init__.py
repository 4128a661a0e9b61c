"""How similar two words are: tables, taxonomies, WordNet, latent semantics, vectors, and their combinations."""

from sapwood.lazy import public_names
from sapwood.words.base import WordSimilarity
from sapwood.words.forms import Folded, Inflected, Tagged
from sapwood.words.latent import Latent
from sapwood.words.repair import repair
from sapwood.words.table import SimilarityWarning, Table
from sapwood.words.taxonomy import Taxonomy
from sapwood.words.vectors import Vectors
from sapwood.words.wordnet import WordNet

__all__ = [
    "Folded",
    "Inflected",
    "Latent",
    "SimilarityWarning",
    "Table",
    "Tagged",
    "Taxonomy",
    "Vectors",
    "WordNet",
    "WordSimilarity",
    "repair",
]

__dir__ = public_names(__name__)
