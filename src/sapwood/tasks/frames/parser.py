"""From a sentence to frames with arguments: the parser, the identifier and the labeller, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from sapwood.corpora.conllu import DependencySentence
from sapwood.corpora.framenet import Lexicon
from sapwood.errors import DataError
from sapwood.fitting import all_or_nothing
from sapwood.notebook import HtmlTable
from sapwood.parse.base import Sentence
from sapwood.parse.parameter import PARSER
from sapwood.parse.reading import check_listed, read_examples, read_text
from sapwood.registry import Reader, Writer, register
from sapwood.tasks.frames.identifier import FrameIdentifier
from sapwood.tasks.frames.instances import FrameInput, check_training
from sapwood.tasks.frames.labeler import FrameLabeler, LabelledTarget
from sapwood.tasks.frames.loading import find_senses
from sapwood.tasks.frames.sentences import ParsedSentence, from_conllu, from_tree
from sapwood.words.senses import WordSenses

__all__ = ["FrameParser", "FrameSentence", "as_parsed"]


@dataclass(frozen=True)
class FrameSentence(HtmlTable):
    """A sentence with the frames found in it.

    Attributes
    ----------
    parse : ParsedSentence
        Its words, with their places in the text, and what the parser said of them.
    frames : tuple of LabelledTarget
        In the order of the words.
    how : str
        How its tree was made, as in ``sapwood.parse.Sentence``.
    """

    parse: ParsedSentence
    frames: tuple[LabelledTarget, ...]
    how: str = "given"


class FrameParser(BaseEstimator):
    """Finds frames and their arguments.

    Parameters
    ----------
    labeler : FrameLabeler, optional
        Finds arguments; with its defaults if None.
    identifier : FrameIdentifier, optional
        Finds frames; with its defaults if None.
    parser : parser, callable or path, optional
        Turns words and text into trees: a parser of ``sapwood.parse``, a function from a list of words to a tree, or
        the path of a model file. Needed for whatever has no tree.

    Attributes
    ----------
    labeler_, identifier_
        The trained ones.

    Examples
    --------
    >>> from sapwood.corpora import nursery
    >>> from sapwood.tasks.frames import FrameLabeler, FrameParser, nursery_frames
    >>> lexicon, data = nursery_frames(nursery.generate(size=300))
    >>> parser = FrameParser(labeler=FrameLabeler(bits=18)).fit(data[:250], lexicon=lexicon)
    >>> len(parser.parse([data[260].parse])[0]) > 0
    True
    """

    def __init__(
        self, *, labeler: FrameLabeler | None = None, identifier: FrameIdentifier | None = None, parser: Any = None
    ) -> None:
        self.labeler, self.identifier, self.parser = labeler, identifier, parser

    @all_or_nothing
    def fit(self, X: Sequence[FrameInput], y: None = None, *, lexicon: Lexicon) -> FrameParser:
        """Train both parts on sentences with frames and fillers."""
        X = check_training(X, lexicon)
        self.labeler_: FrameLabeler = clone(self.labeler or FrameLabeler()).fit(X, lexicon=lexicon)
        self.identifier_: FrameIdentifier = clone(self.identifier or FrameIdentifier()).fit(X, lexicon=lexicon)
        return self

    def parse(self, X: Iterable[Any]) -> list[list[LabelledTarget]]:
        """Find the frames of sentences, and their arguments.

        Parameters
        ----------
        X : iterable
            Each a ``ParsedSentence``, a ``DependencySentence``, a tree, text of one sentence, or a list of words.
        """
        check_is_fitted(self, "labeler_")
        if isinstance(X, ParsedSentence):
            raise DataError("expected a list of sentences, got one ParsedSentence; wrap it in a list.")
        check_listed(X, "sentence")
        elements = [each.parse if isinstance(each, FrameInput) else each for each in X]
        ready = (ParsedSentence, DependencySentence)
        bare = [each for each in elements if not isinstance(each, ready)]
        reading = read_examples(bare, self.parser, what="sentence")
        found = iter(reading.single("parse_text"))
        reading.report()
        sentences = [each if isinstance(each, ready) else next(found) for each in elements]
        return [list(one.frames) for one in self._framed(sentences)]

    def parse_text(self, text: str) -> list[FrameSentence]:
        """Split text into sentences and words, parse them, and find their frames with their arguments."""
        check_is_fitted(self, "labeler_")
        return self._framed(read_text(text, self.parser))

    def _framed(self, sentences: Sequence[Sentence | ParsedSentence | DependencySentence]) -> list[FrameSentence]:
        # A model that has never seen supersenses has no use for them.
        bare = any(not isinstance(one, ParsedSentence) for one in sentences)
        senses = find_senses() if bare and self.labeler_.wordnet_ else None
        parses = [as_parsed(one, senses) for one in sentences]
        targets = self.identifier_.predict(parses)
        data = [FrameInput(parse, tuple(found)) for parse, found in zip(parses, targets, strict=True)]
        return [
            FrameSentence(parse, tuple(found), getattr(one, "how", "given"))
            for one, parse, found in zip(sentences, parses, self.labeler_.predict(data), strict=True)
        ]

    def predict(self, X: Sequence[FrameInput], *, method: str | None = None) -> list[list[LabelledTarget]]:
        """Find the arguments of frames that are given; see ``FrameLabeler.predict``."""
        check_is_fitted(self, "labeler_")
        return self.labeler_.predict(X, method=method)


def as_parsed(sentence: Sentence | ParsedSentence | DependencySentence, senses: WordSenses | None) -> ParsedSentence:
    """Return a sentence as the identifier and the labeller take it."""
    if isinstance(sentence, ParsedSentence):
        return sentence
    if isinstance(sentence, DependencySentence):
        return from_conllu(sentence, senses=senses)
    # FrameNet counts the last character of a span as its end.
    places = None if sentence.offsets is None else [(begin, end - 1) for begin, end in sentence.offsets]
    return from_tree(sentence.tree, offsets=places, senses=senses)


def _write(parser: FrameParser, writer: Writer) -> dict[str, Any]:
    check_is_fitted(parser, "labeler_")
    return {
        "labeler": writer.part(parser.labeler_),
        "identifier": writer.part(parser.identifier_),
        "parser": PARSER.write(parser.parser, writer),
    }


def _read(data: dict[str, Any], reader: Reader) -> FrameParser:
    # Files of the first version hold no parser.
    parser = FrameParser(parser=PARSER.read(data.get("parser"), reader))
    parser.labeler_ = reader.part(data["labeler"], FrameLabeler)
    parser.identifier_ = reader.part(data["identifier"], FrameIdentifier)
    return parser


register("FrameParser", FrameParser, _write, _read)
