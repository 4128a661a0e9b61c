"""How similar two words are: tables, taxonomies, WordNet, latent semantics, vectors, and their combinations.

``Encoder`` gives words the vectors that they have in their sentences, and ``Contextual`` compares those.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sapwood.lazy import lazy_names
from sapwood.words.base import WordSimilarity
from sapwood.words.contextual import Contextual
from sapwood.words.forms import Folded, Inflected, Tagged
from sapwood.words.latent import Latent
from sapwood.words.repair import repair
from sapwood.words.table import SimilarityWarning, Table
from sapwood.words.taxonomy import Taxonomy
from sapwood.words.vectors import Vectors
from sapwood.words.wordnet import WordNet

__all__ = [
    "Contextual",
    "Encoder",
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

if TYPE_CHECKING:
    from sapwood.words.encoder import Encoder

# Who compares words needs no encoder.
__getattr__, __dir__ = lazy_names(__name__, {"Encoder": "encoder"})
