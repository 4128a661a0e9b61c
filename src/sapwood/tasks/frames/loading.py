"""Annotated sentences joined with their parses: a FrameNet release with its split, and the nursery."""

from __future__ import annotations

import os
from collections import deque
from dataclasses import dataclass, field

from sapwood.checks import check_count
from sapwood.corpora import framenet
from sapwood.corpora.framenet.fulltext import AnnotatedSentence, FrameTarget
from sapwood.corpora.framenet.lexicon import Lexicon
from sapwood.corpora.framenet.release import SentenceParse, read_splits
from sapwood.corpora.nursery import Nursery
from sapwood.corpora.nursery.frames import frame_lexicon, frames
from sapwood.notebook import HtmlTable
from sapwood.parse.base import Parser
from sapwood.tasks.frames.instances import FrameInput
from sapwood.tasks.frames.sentences import ParsedSentence
from sapwood.words.senses import WordSenses

__all__ = ["FrameCorpus", "load_framenet", "nursery_frames"]


@dataclass(frozen=True)
class FrameCorpus(HtmlTable):
    """A corpus for training and testing.

    Attributes
    ----------
    lexicon : Lexicon
        Its frames.
    train, dev, test : list of FrameInput
        Its parts. A sentence without a parse is left out of training; elsewhere it gets a flat tree, so that its
        targets count. A target whose frame the lexicon lacks is left out everywhere.
    missing : dict of str to int
        Targets left out of each part.
    unparsed : dict of str to int
        Targets of each part in sentences without a parse.
    wordnet : bool
        Whether WordNet was found, so that the sentences have supersenses.
    """

    lexicon: Lexicon
    train: list[FrameInput]
    dev: list[FrameInput]
    test: list[FrameInput]
    missing: dict[str, int]
    wordnet: bool
    unparsed: dict[str, int] = field(default_factory=dict)


def load_framenet(
    release: str | os.PathLike[str],
    parses: str | os.PathLike[str] | Parser,
    splits: str | os.PathLike[str] | None = None,
    *,
    senses: WordSenses | None = None,
    context: int = 0,
) -> FrameCorpus:
    """Read a FrameNet release with the parses of its sentences.

    Parameters
    ----------
    release : path
        A folder or archive; see ``sapwood.corpora.framenet.read``.
    parses : path or parser
        JSON lines; see ``sapwood.corpora.framenet.read_parses``. Or a parser, which then parses FrameNet's own tokens.
    splits : path, optional
        JSON with the names of test and dev texts; without it, all texts are for training.
    senses : WordSenses, optional
        Where supersenses come from; see ``sapwood.words.senses.find_senses``.
    context : int
        How many sentences of the same text go before each, as places of fillers; see ``FrameInput.after``.
    """
    check_count(context, "context", 0)
    read = framenet.read(release)
    trees = framenet.read_parses(parses) if isinstance(parses, (str, os.PathLike)) else _parsed(read, parses)
    parts: dict[str, tuple[str, ...]] = {"test": (), "dev": ()}
    if splits is not None:
        parts |= read_splits(splits)
    held = {*parts["test"], *parts["dev"]}
    parts["train"] = tuple(name for name in read.documents if name not in held)
    found: dict[str, list[FrameInput]] = {}
    missing: dict[str, int] = {}
    unparsed: dict[str, int] = {}
    for part, names in parts.items():
        found[part], missing[part], unparsed[part] = [], 0, 0
        before: deque[tuple[str, ParsedSentence]] = deque(maxlen=context)
        # A release may lack a text of the split, as 1.7 does.
        for sentence in read.of([name for name in names if name in read.documents]):
            known = tuple(target for target in sentence.targets if target.frame in read.lexicon)
            parse = trees.get((sentence.document, sentence.id))
            missing[part] += len(sentence.targets) - len(known)
            if parse is not None:
                analysis = ParsedSentence.from_tree(parse.tree, offsets=parse.offsets, senses=senses)
            else:
                unparsed[part] += len(known)
                if part == "train":
                    missing[part] += len(known)
                if part == "train" or not sentence.offsets:
                    continue
                analysis = ParsedSentence.from_tags(
                    sentence.tokens, sentence.tags, offsets=sentence.offsets, senses=senses
                )
            one = _input(sentence, analysis, known)
            near = [other for document, other in before if document == sentence.document]
            found[part].append(one.after(near) if near else one)
            before.append((sentence.document, analysis))
    return FrameCorpus(read.lexicon, found["train"], found["dev"], found["test"], missing, senses is not None, unparsed)


def _parsed(release: framenet.FrameNet, parser: Parser) -> dict[tuple[str, str], SentenceParse]:
    """Parse all sentences that have tokens; those without a parse are left out."""
    known = [one for one in release.sentences if one.offsets]
    answers = parser.parse_sentences([one.tokens for one in known])
    return {
        (one.document, one.id): SentenceParse(answer.tree, one.offsets)
        for one, answer in zip(known, answers, strict=True)
        if answer.how != "flat"
    }


def nursery_frames(corpus: Nursery) -> tuple[Lexicon, list[FrameInput]]:
    """Return the frames of a nursery, and its sentences with their gold trees.

    Examples
    --------
    >>> from sapwood.corpora import nursery
    >>> lexicon, data = nursery_frames(nursery.generate(size=30))
    >>> len(lexicon), len(data)
    (18, 30)
    """
    pairs = zip(frames(corpus), corpus.sentences, strict=True)
    return frame_lexicon(), [
        _input(one, ParsedSentence.from_tree(sentence.tree, offsets=one.offsets), one.targets)
        for one, sentence in pairs
    ]


def _input(sentence: AnnotatedSentence, parse: ParsedSentence, targets: tuple[FrameTarget, ...]) -> FrameInput:
    return FrameInput(parse, targets, f"{sentence.document}, sentence {sentence.id}")
