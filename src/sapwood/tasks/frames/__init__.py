"""Frame arguments: which spans of a sentence fill the roles of a frame, by a log-linear model and exact decoding.

After Das, Martins and Smith (2012). Sentences come parsed (``sentences``); candidate spans (``spans``) get features
(``rows``, ``templates``) and scores; decoding picks the best assignment under the lexicon's constraints (``labeler``).
``identifier`` finds the frames where they are not given. Fillers in several pieces and fillers in other sentences are
out of scope.
"""

from sapwood.lazy import public_names
from sapwood.tasks.frames.evaluation import evaluate_arguments, gold_violations
from sapwood.tasks.frames.identifier import FrameIdentifier
from sapwood.tasks.frames.instances import FrameInput
from sapwood.tasks.frames.labeler import FrameLabeler, LabelledTarget, RoleFiller
from sapwood.tasks.frames.loading import FrameCorpus, load_framenet, nursery_frames
from sapwood.tasks.frames.parser import FrameParser, FrameSentence
from sapwood.tasks.frames.records import FrameRecord, iter_records, prediction, write_records
from sapwood.tasks.frames.sentences import ParsedSentence, from_conllu, from_tags, from_tree

__all__ = [
    "FrameCorpus",
    "FrameIdentifier",
    "FrameInput",
    "FrameLabeler",
    "FrameParser",
    "FrameRecord",
    "FrameSentence",
    "LabelledTarget",
    "ParsedSentence",
    "RoleFiller",
    "evaluate_arguments",
    "from_conllu",
    "from_tags",
    "from_tree",
    "gold_violations",
    "iter_records",
    "load_framenet",
    "nursery_frames",
    "prediction",
    "write_records",
]

__dir__ = public_names(__name__)
