"""A whole FrameNet release: lexicon and full text from one folder or archive, and the parses that go with it.

The lexical-unit files (``lu/``, half a gigabyte of example sentences) are passed over.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from sapwood.corpora.framenet.fulltext import AnnotatedSentence, sentences_in
from sapwood.corpora.framenet.lexicon import Frame, FrameRelation, Lexicon, read_frame, relations_in
from sapwood.errors import DataError
from sapwood.notebook import HtmlTable
from sapwood.sources import Source, Sources, open_all
from sapwood.text_files import Line, blocks, lines
from sapwood.trees.texts import TreeTexts
from sapwood.trees.tree import Tree

__all__ = ["FrameNet", "SentenceParse", "read", "read_parses", "read_splits"]


@dataclass(frozen=True)
class FrameNet(HtmlTable):
    """A release that has been read: its lexicon, and the sentences of its annotated texts in the order of the files."""

    lexicon: Lexicon
    sentences: tuple[AnnotatedSentence, ...]

    @property
    def documents(self) -> tuple[str, ...]:
        """The names of the texts, each once."""
        return tuple(dict.fromkeys(sentence.document for sentence in self.sentences))

    def of(self, documents: Collection[str]) -> list[AnnotatedSentence]:
        """Return the sentences of these texts; all of them must be there."""
        missing = sorted(set(documents) - set(self.documents))
        if missing:
            raise DataError(f"the release has no text called {missing[0]!r}; it has {len(self.documents)} others.")
        wanted = set(documents)
        return [sentence for sentence in self.sentences if sentence.document in wanted]

    @property
    def unknown(self) -> Mapping[str, int]:
        """The annotated frames that the lexicon lacks, and how often; release 1.5 has one."""
        counts = Counter(target.frame for sentence in self.sentences for target in sentence.targets)
        return {frame: count for frame, count in sorted(counts.items()) if frame not in self.lexicon}

    def __repr__(self) -> str:
        targets = sum(len(sentence.targets) for sentence in self.sentences)
        return (
            f"FrameNet({len(self.lexicon):,} frames; {len(self.documents)} texts, {len(self.sentences):,} sentences, "
            f"{targets:,} targets)"
        )


@dataclass(frozen=True)
class SentenceParse(HtmlTable):
    """The tree of a sentence, and where each of its leaves stands in the text (last character included)."""

    tree: Tree
    offsets: tuple[tuple[int, int], ...]


def read(path: str | os.PathLike[str]) -> FrameNet:
    """Read a FrameNet release.

    Parameters
    ----------
    path : path
        The folder with ``frame``, ``fulltext`` and ``frRelation.xml``, or an archive that holds such a folder.

    Raises
    ------
    FormatError
        With file, line and column, where a file is broken.
    DataError
        Where the folder or archive is no FrameNet release.
    """
    frames: list[Frame] = []
    relations: list[FrameRelation] = []
    texts: dict[str, list[AnnotatedSentence]] = {}
    for stream in open_all(_files(path)):
        place = PurePosixPath(stream.name.replace(os.sep, "/"))
        if place.parent.name == "frame":
            frames.append(read_frame(stream))
        elif place.parent.name == "fulltext":
            texts[place.stem] = list(sentences_in(stream))
        elif place.name == "frRelation.xml":
            relations += relations_in(stream)
    if not frames or not texts:
        raise DataError(f"{os.fspath(path)}: holds no files frame/*.xml or no fulltext/*.xml; name a FrameNet release.")
    lexicon = Lexicon.of(sorted(frames, key=lambda frame: frame.name), relations)
    sentences = tuple(sentence for name in sorted(texts) for sentence in texts[name])
    return FrameNet(lexicon, sentences)


def _files(path: str | os.PathLike[str]) -> list[Source]:
    name = os.fspath(path)
    if not os.path.exists(name):
        raise DataError(f"{name}: no such folder or archive (looked from {os.getcwd()}).")
    if not os.path.isdir(name):
        # One pattern, so that a compressed archive is read from front to back once.
        return [f"{name}/*/[f]*.xml"]
    folder = Path(name)
    found = [*sorted(folder.glob("frame/*.xml")), *sorted(folder.glob("fulltext/*.xml")), folder / "frRelation.xml"]
    present: list[Source] = [each for each in found if each.is_file()]
    if not present:
        raise DataError(f"{name}: holds neither frame/*.xml nor fulltext/*.xml; name the folder of a FrameNet release.")
    return present


def read_parses(source: Sources) -> dict[tuple[str, str], SentenceParse]:
    """Read parses of full-text sentences.

    Parameters
    ----------
    source : path, pattern, open file, or a list of these
        JSON lines with ``doc``, ``sent_id``, ``tree`` (in brackets) and ``offsets`` (first and last character of each
        leaf).

    Returns
    -------
    dict
        From (document, sentence) to ``SentenceParse``.

    Examples
    --------
    >>> import io
    >>> line = '{"doc": "d", "sent_id": "7", "offsets": [[0, 3]], "tree": "(NP (NN Rain))"}'
    >>> print(read_parses(io.StringIO(line))["d", "7"].tree)
    (NP (NN Rain))
    """
    found: dict[tuple[str, str], SentenceParse] = {}
    for block in blocks(lines(source)):
        texts, places = TreeTexts(), []
        for line in block:
            key, text, offsets = _parse_record(line)
            texts.add(text, line, 1)
            places.append((line, key, offsets))
        for (line, key, offsets), tree in zip(places, texts.trees(), strict=True):
            if len(tree.leaves()) != len(offsets):
                raise line.fault(f"the tree has {len(tree.leaves())} leaves and there are {len(offsets)} offsets")
            found[key] = SentenceParse(tree, offsets)
    return found


def _parse_record(line: Line) -> tuple[tuple[str, str], str, tuple[tuple[int, int], ...]]:
    record = line.json()
    try:
        key = str(record["doc"]), str(record["sent_id"])
        offsets = tuple((int(start), int(end)) for start, end in record["offsets"])
        tree = record["tree"]
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise line.fault(f'expected {{"doc", "sent_id", "offsets", "tree"}} as JSON ({error!r})') from None
    if not isinstance(tree, str):
        raise line.fault('the "tree" must be text in brackets')
    last = -1
    for start, end in offsets:
        if not last < start <= end:
            raise line.fault(f"the offsets {start} to {end} do not follow those before them")
        last = end
    return key, tree, offsets


def read_splits(path: str | os.PathLike[str]) -> Mapping[str, tuple[str, ...]]:
    """Read which texts are for testing and which for development, from JSON with lists ``test`` and ``dev``."""
    name = os.fspath(path)
    text = "\n".join(line.text for line in lines(name))
    try:
        record = json.loads(text)
        return {part: tuple(str(each) for each in record[part]) for part in ("test", "dev")}
    except (ValueError, KeyError, TypeError, RecursionError):
        raise DataError(f'{name}: expected JSON with the lists "test" and "dev" of text names.') from None
