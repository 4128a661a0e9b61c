"""FrameNet 1.5 and 1.7: the lexicon of frames and the annotated full texts.

Discontinuous fillers are kept as separate spans of one role. Fillers that stand in another sentence are not part of
the format: they appear as null instantiations.
"""

from sapwood.corpora.framenet.fulltext import AnnotatedSentence, Filler, FrameTarget, iter_fulltext, read_fulltext
from sapwood.corpora.framenet.lexicon import (
    CORE_TYPES,
    Frame,
    FrameElement,
    FrameRelation,
    LexicalUnit,
    Lexicon,
    iter_frames,
    read_relations,
)
from sapwood.corpora.framenet.release import (
    FrameNet,
    SentenceParse,
    read_framenet,
    read_sentence_parses,
    read_splits,
)
from sapwood.lazy import public_names

__all__ = [
    "CORE_TYPES",
    "AnnotatedSentence",
    "Filler",
    "Frame",
    "FrameElement",
    "FrameNet",
    "FrameRelation",
    "FrameTarget",
    "LexicalUnit",
    "Lexicon",
    "SentenceParse",
    "iter_frames",
    "iter_fulltext",
    "read_framenet",
    "read_fulltext",
    "read_relations",
    "read_sentence_parses",
    "read_splits",
]

__dir__ = public_names(__name__)
