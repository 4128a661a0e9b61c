"""FrameNet 1.5 and 1.7: the lexicon of frames and the annotated full texts.

Discontinuous fillers are kept as separate spans of one role. Fillers that stand in another sentence are not part of
the format: they appear as null instantiations. What a lexicon and a sentence are made of is in the modules ``lexicon``
and ``fulltext``.
"""

from sapwood.corpora.framenet.fulltext import AnnotatedSentence
from sapwood.corpora.framenet.lexicon import Lexicon
from sapwood.corpora.framenet.release import FrameNet, read, read_parses
from sapwood.lazy import public_names

__all__ = ["AnnotatedSentence", "FrameNet", "Lexicon", "read", "read_parses"]

__dir__ = public_names(__name__)
