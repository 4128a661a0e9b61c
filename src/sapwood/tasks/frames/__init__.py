"""Frame arguments: which spans of a sentence fill the roles of a frame, by a log-linear model and exact decoding.

After Das, Martins and Smith (2012). Sentences come parsed (``sentences``); candidate spans (``spans``) get features
(``views``, ``rows``, ``templates``) and scores; decoding picks the best assignment under the constraints of the lexicon
(``labeler``). ``identifier`` finds the frames where they are not given; ``parser`` does both. Candidates in several
pieces (``pieces``) and in the sentences before (``FrameInput.after``) are options.
"""

from sapwood.lazy import public_names
from sapwood.tasks.frames.evaluation import evaluate_arguments
from sapwood.tasks.frames.identifier import FrameIdentifier
from sapwood.tasks.frames.instances import FrameInput
from sapwood.tasks.frames.labeler import FrameLabeler
from sapwood.tasks.frames.loading import FrameCorpus, load_framenet, nursery_frames
from sapwood.tasks.frames.parser import FrameParser
from sapwood.tasks.frames.records import iter_records, write_records
from sapwood.tasks.frames.results import FrameSentence, LabeledTarget
from sapwood.tasks.frames.sentences import ParsedSentence

__all__ = [
    "FrameCorpus",
    "FrameIdentifier",
    "FrameInput",
    "FrameLabeler",
    "FrameParser",
    "FrameSentence",
    "LabeledTarget",
    "ParsedSentence",
    "evaluate_arguments",
    "iter_records",
    "load_framenet",
    "nursery_frames",
    "write_records",
]

__dir__ = public_names(__name__)
