"""From a parsed sentence to frames with arguments: the identifier and the labeller, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from sapwood.corpora.framenet import Lexicon
from sapwood.files import Reader, Writer, register
from sapwood.fitting import all_or_nothing
from sapwood.tasks.frames.identifier import FrameIdentifier
from sapwood.tasks.frames.instances import FrameInput
from sapwood.tasks.frames.labeler import FrameLabeler, LabelledTarget
from sapwood.tasks.frames.sentences import ParsedSentence

__all__ = ["FrameParser"]


class FrameParser(BaseEstimator):
    """Finds frames and their arguments.

    Parameters
    ----------
    labeler : FrameLabeler, optional
        Finds arguments; with its defaults if None.
    identifier : FrameIdentifier, optional
        Finds frames; with its defaults if None.

    Attributes
    ----------
    labeler_, identifier_
        The trained ones.

    Examples
    --------
    >>> from sapwood.corpora import nursery
    >>> from sapwood.tasks.frames import FrameLabeler, FrameParser, nursery_frames
    >>> lexicon, data = nursery_frames(nursery.grow(size=300))
    >>> parser = FrameParser(labeler=FrameLabeler(bits=18)).fit(data[:250], lexicon=lexicon)
    >>> len(parser.parse([data[260].parse])[0]) > 0
    True
    """

    def __init__(self, *, labeler: FrameLabeler | None = None, identifier: FrameIdentifier | None = None) -> None:
        self.labeler, self.identifier = labeler, identifier

    @all_or_nothing
    def fit(self, X: Sequence[FrameInput], y: None = None, *, lexicon: Lexicon) -> FrameParser:
        """Train both parts on sentences with frames and fillers."""
        self.labeler_: FrameLabeler = clone(self.labeler or FrameLabeler()).fit(X, lexicon=lexicon)
        self.identifier_: FrameIdentifier = clone(self.identifier or FrameIdentifier()).fit(X, lexicon=lexicon)
        return self

    def parse(self, X: Iterable[ParsedSentence]) -> list[list[LabelledTarget]]:
        """Find the frames of sentences, and their arguments."""
        check_is_fitted(self, "labeler_")
        sentences = list(X)
        found = self.identifier_.predict(sentences)
        return self.labeler_.predict(
            [FrameInput(sentence, tuple(targets)) for sentence, targets in zip(sentences, found, strict=True)]
        )

    def predict(self, X: Sequence[FrameInput], *, method: str | None = None) -> list[list[LabelledTarget]]:
        """Find the arguments of frames that are given; see ``FrameLabeler.predict``."""
        check_is_fitted(self, "labeler_")
        return self.labeler_.predict(X, method=method)


def _write(parser: FrameParser, writer: Writer) -> dict[str, Any]:
    check_is_fitted(parser, "labeler_")
    return {"labeler": writer.part(parser.labeler_), "identifier": writer.part(parser.identifier_)}


def _read(data: dict[str, Any], reader: Reader) -> FrameParser:
    parser = FrameParser()
    parser.labeler_, parser.identifier_ = reader.part(data["labeler"]), reader.part(data["identifier"])
    if not isinstance(parser.labeler_, FrameLabeler) or not isinstance(parser.identifier_, FrameIdentifier):
        raise reader.fail("a parser of frames needs a labeller and an identifier")
    return parser


register("FrameParser", FrameParser, _write, _read)
