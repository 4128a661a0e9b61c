"""From a sentence to frames with arguments: the parser, the identifier and the labeler, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from sapwood.corpora.conllu import DependencySentence
from sapwood.corpora.framenet import Lexicon
from sapwood.corpora.framenet.fulltext import FrameTarget
from sapwood.errors import DataError, ParameterError
from sapwood.fitting import SequenceInput, all_or_nothing
from sapwood.learn.explain import Explanation
from sapwood.parse.base import Sentence
from sapwood.parse.parameter import PARSER
from sapwood.parse.reading import Reading, check_listed, read_examples, read_text
from sapwood.registry import Reader, Writer, register
from sapwood.tasks.frames.identifier import FrameIdentifier
from sapwood.tasks.frames.instances import FrameInput, check_training, target_tokens
from sapwood.tasks.frames.labeler import FrameLabeler
from sapwood.tasks.frames.results import FrameSentence
from sapwood.tasks.frames.sentences import ParsedSentence
from sapwood.tasks.inputs import in_batches
from sapwood.words.senses import WordSenses

__all__ = ["FrameParser"]


class FrameParser(SequenceInput, BaseEstimator):
    """Finds frames and their arguments.

    ``parse`` takes one sentence, ``parse_text`` text of several, ``predict`` a list of sentences, ``parse_sentences`` a
    stream of any length.

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
    language : str or None
        The language it is for; with ``"en"``, which models of an English package have, ``parse_text`` warns of
        sentences that do not look English. None where that is not known.

    Examples
    --------
    >>> from sapwood.corpora import nursery
    >>> from sapwood.tasks.frames import FrameLabeler, FrameParser, nursery_frames
    >>> lexicon, data = nursery_frames(nursery.generate(size=300))
    >>> parser = FrameParser(labeler=FrameLabeler(bits=18)).fit(data[:250], lexicon=lexicon)
    >>> len(parser.parse("(S (NP (NNP Anna)) (VP (VBD gave) (NP (NNP Ben)) (NP (DT a) (NN book))))").frames)
    1
    """

    language: str | None = None

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

    def parse(self, sentence: Any) -> FrameSentence:
        """Find the frames of one sentence, and their arguments; see ``predict``."""
        return self.predict([sentence])[0]

    def parse_text(self, text: str) -> list[FrameSentence]:
        """Split text into sentences and words, parse them, and find their frames with their arguments."""
        check_is_fitted(self, "labeler_")
        return self._predict(read_text(text, self.parser, self.language))

    def parse_sentences(self, sentences: Iterable[Any]) -> Iterator[FrameSentence]:
        """Find frames in sentences as they come, a few at a time; see ``predict``.

        A sentence that the parser finds no tree for has ``how="flat"``.
        """
        check_is_fitted(self, "labeler_")
        check_listed(sentences, "sentence")
        return (one for batch in in_batches(sentences) for one in self._predict(self._read(batch)[0]))

    def predict(self, X: Iterable[Any]) -> list[FrameSentence]:
        """Find the frames of sentences, and their arguments; warns of those that the parser finds no tree for.

        Parameters
        ----------
        X : iterable
            Each element is a tree, text of one sentence, a list of words, a ``ParsedSentence``, a
            ``DependencySentence``, or a ``FrameInput``, whose targets and frames are used as they are given.
        """
        check_is_fitted(self, "labeler_")
        if isinstance(X, _READY):
            raise DataError(f"expected a list of sentences, got one {type(X).__name__}; wrap it in a list.")
        check_listed(X, "sentence")
        sentences, reading = self._read(list(X))
        reading.report()
        return self._predict(sentences)

    def explain(
        self,
        sentence: Any,
        target: int,
        role: str | None = None,
        *,
        frame: str | None = None,
        span: tuple[int, int] | None = None,
    ) -> Explanation:
        """Say why a word evokes a frame, or with a role, why a span fills it.

        Scores are log-odds: of the frame against evoking none, of the span against leaving the role unfilled.

        Parameters
        ----------
        sentence : tree, text, words, ParsedSentence or FrameInput
            One sentence, as ``predict`` takes it.
        target : int
            The word, counted from 0; one of several that evoke a frame together will do.
        role : str, optional
            The role whose filler is to be explained.
        frame : str, optional
            The frame; by default the one that is found, or if none is, the likeliest.
        span : (int, int), optional
            First and last word of what fills the role; by default what is found, or else the likeliest.

        Examples
        --------
        >>> from sapwood.corpora import nursery
        >>> from sapwood.tasks.frames import nursery_frames
        >>> lexicon, data = nursery_frames(nursery.generate(size=300))
        >>> parser = FrameParser(labeler=FrameLabeler(bits=18)).fit(data[:250], lexicon=lexicon)
        >>> why = parser.explain("(S (NP (NNP Anna)) (VP (VBD gave) (NP (NNP Ben)) (NP (DT a) (NN book))))", 1, "Donor")
        >>> why.label, why.value > 0
        ('Giving.Donor', True)
        """
        check_is_fitted(self, "labeler_")
        if span is not None and role is None:
            raise ParameterError("span= says what fills a role; say which with role=.")
        (one,) = self._inputs(self._read([sentence])[0])
        words = one.parse.words
        if isinstance(target, bool) or not isinstance(target, (int, np.integer)) or not 0 <= target < len(words):
            raise DataError(f"there is no word {target!r}; the sentence has {len(words)}, counted from 0.")
        given = one.targets or tuple(self.identifier_.predict([one.parse])[0])
        known = {token: each for each in given for token in target_tokens(replace(one, targets=given), each)}
        found = known.get(int(target))
        tokens = (int(target),) if found is None else target_tokens(replace(one, targets=given), found)
        if role is None:
            return self.identifier_.explain(one.parse, tokens, frame=frame or (found.frame if found else None))
        if found is None or (frame is not None and frame != found.frame):
            name = frame or str(self.identifier_.explain(one.parse, tokens).label)
            first, last = one.parse.offsets[tokens[0]][0], one.parse.offsets[tokens[-1]][1]
            found = FrameTarget(name, ((first, last),))
        return self.labeler_.explain(replace(one, targets=(found,), find=False), 0, role, span=span)

    def _read(self, elements: Sequence[Any]) -> tuple[list[Any], Reading]:
        """Return the sentences, with trees where they need them, and what was read to find these."""
        reading = read_examples([one for one in elements if not isinstance(one, _READY)], self.parser, what="sentence")
        found = iter(reading.single("parse_text"))
        return [one if isinstance(one, _READY) else next(found) for one in elements], reading

    def _inputs(
        self, sentences: Sequence[Sentence | ParsedSentence | DependencySentence | FrameInput]
    ) -> list[FrameInput]:
        bare = any(isinstance(one, (Sentence, DependencySentence)) for one in sentences)
        senses = self.labeler_.senses_ if bare else None
        return [
            one if isinstance(one, FrameInput) else FrameInput(_parsed(one, senses), find=True) for one in sentences
        ]

    def _predict(
        self, sentences: Sequence[Sentence | ParsedSentence | DependencySentence | FrameInput]
    ) -> list[FrameSentence]:
        data = self._inputs(sentences)
        targets = iter(self.identifier_.predict([one.parse for one in data if one.find]))
        known = [replace(one, targets=tuple(next(targets)), find=False) if one.find else one for one in data]
        return [
            replace(found, how=getattr(one, "how", "given"))
            for one, found in zip(sentences, self.labeler_.predict(known), strict=True)
        ]


_READY = (ParsedSentence, DependencySentence, FrameInput)


def _parsed(sentence: Sentence | ParsedSentence | DependencySentence, senses: WordSenses | None) -> ParsedSentence:
    if isinstance(sentence, ParsedSentence):
        return sentence
    if isinstance(sentence, DependencySentence):
        return ParsedSentence.from_conllu(sentence, senses=senses)
    # FrameNet counts the last character of a span as its end.
    places = None if sentence.offsets is None else [(begin, end - 1) for begin, end in sentence.offsets]
    return ParsedSentence.from_tree(sentence.tree, offsets=places, senses=senses)


def _write(parser: FrameParser, writer: Writer) -> dict[str, Any]:
    check_is_fitted(parser, "labeler_")
    return {
        "labeler": writer.part(parser.labeler_),
        "identifier": writer.part(parser.identifier_),
        "parser": PARSER.write(parser.parser, writer),
        "given": [name for name in _PARTS if getattr(parser, name) is not None],
    }


def _read(data: dict[str, Any], reader: Reader) -> FrameParser:
    parts = {name: reader.part(data[name], kind) for name, kind in _PARTS.items()}
    # Files of the first versions hold no parser, and do not tell which parts were given.
    given = {name: clone(part) for name, part in parts.items() if name in data.get("given", ())}
    parser = FrameParser(parser=PARSER.read(data.get("parser"), reader), **given)
    parser.labeler_, parser.identifier_ = parts["labeler"], parts["identifier"]
    return parser


_PARTS: dict[str, type[Any]] = {"labeler": FrameLabeler, "identifier": FrameIdentifier}

register("FrameParser", FrameParser, _write, _read)
