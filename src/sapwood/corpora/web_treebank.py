"""The English Web Treebank put together from what is free: PropBank's columns without words, and the words of UD.

PropBank's release holds tags, parse bits and propositions of every document (``data/google/ewt``), with words left out;
Universal Dependencies hold the words, lemmas and dependencies. Sentences are joined by document and number where both
sides have the same number of words; a document that was split into sentences in another way is left out.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from sapwood.corpora import conllu, propbank_columns
from sapwood.corpora.columns import Block, column_blocks
from sapwood.errors import DataError
from sapwood.sources import Sources
from sapwood.text_files import lines
from sapwood.trees.dependency_sentence import Row
from sapwood.trees.treebank import write_trees
from sapwood.writing import write_text

__all__ = ["PARTS", "join"]

PARTS = ("train", "dev", "test")
_SKELETONS = "*data/google/ewt/*.gold_skel"
_LISTS = "*docs/evaluation/ewt.{}.txt"


class _Sentence(NamedTuple):
    """What is known of a sentence: its name in UD, and its lines in joined columns."""

    name: str
    text: str


def join(release: str | os.PathLike[str], words: Sources, folder: str | os.PathLike[str]) -> Counter[str]:
    """Write ``train``, ``dev`` and ``test``, as ``.conll.gz`` in joined columns and as ``.trees.gz``.

    Parameters
    ----------
    release : path
        An archive of PropBank's release.
    words : path, pattern or a list of these
        UD_English-EWT in CoNLL-U.
    folder : path
        Where the six files go.

    Returns
    -------
    Counter
        How many sentences each part has, and how many were left out (``left out``).

    Raises
    ------
    DataError
        If the release holds no skeletons of the treebank, or a part of it has no words.
    """
    parts = {name: part for part in PARTS for name in _documents(f"{release}/{_LISTS.format(part)}")}
    known = _words(words)
    made: dict[str, list[_Sentence]] = {part: [] for part in PARTS}
    counts = Counter(dict.fromkeys((*PARTS, "left out"), 0))
    for name, skeletons in _by_document(column_blocks(f"{release}/{_SKELETONS}")).items():
        part, there = parts.get(name), known.get(name, {})
        if part is None or len(there) != len(skeletons):
            counts["left out"] += len(skeletons)
            continue
        for (sentence, rows), block in zip(sorted(there.items()), skeletons, strict=True):
            if len(rows) != len(block):
                counts["left out"] += 1
            else:
                made[part].append(_joined(sentence, rows, block))
    for part, sentences in made.items():
        if not sentences:
            raise DataError(
                f"{os.fspath(release)}: no sentence of the part {part!r} has its words; they are of another treebank."
            )
    for part, sentences in made.items():
        counts[part] = len(sentences)
        _write(Path(folder), part, sorted(sentences))
    return counts


def _documents(pattern: str) -> Iterable[str]:
    """Yield the names of the documents that a list holds, such as ``weblog/00/name.xml.conllu``."""
    for line in lines(pattern):
        if line.text.strip():
            yield _name(line.text.strip())


def _name(path: str) -> str:
    """Return the name that UD gives to a document of PropBank.

    >>> _name("google/ewt/answers/00/20070404_ans.xml"), _name("answers/00/20070404_ans.xml.conllu")
    ('answers-20070404_ans', 'answers-20070404_ans')
    """
    place = PurePosixPath(path)
    return f"{place.parts[-3] if len(place.parts) > 2 else ''}-{place.name.partition('.xml')[0]}"


def _words(source: Sources) -> dict[str, dict[str, Sequence[Row]]]:
    """Return the words of each sentence by document and name; names end in numbers of four digits."""
    found: dict[str, dict[str, Sequence[Row]]] = defaultdict(dict)
    for sentence in conllu.read(source):
        name = sentence.metadata.get("sent_id", "")
        found[name.rpartition("-")[0]][name] = sentence.tokens
    return found


def _by_document(blocks: Iterable[Block]) -> dict[str, list[Block]]:
    found: dict[str, list[Block]] = defaultdict(list)
    for block in blocks:
        block.columns(8)  # as many fields in every row
        found[_name(block.rows[0][0])].append(block)
    return found


def _joined(name: str, words: Sequence[Row], block: Block) -> _Sentence:
    rows = (
        "\t".join((word.id, word.form, word.lemma, word.upos, row[4], word.xpos, word.head, word.deprel, *row[5:]))
        for word, row in zip(words, block.rows, strict=True)
    )
    return _Sentence(name, "".join(f"{line}\n" for line in (f"# sent_id = {name}", *rows, "")))


def _write(folder: Path, part: str, sentences: Sequence[_Sentence]) -> None:
    texts = [sentence.text for sentence in sentences]
    trees = (sentence.tree for sentence in propbank_columns.read(StringIO("".join(texts))))
    write_trees([tree for tree in trees if tree is not None], folder / f"{part}.trees.gz", escape=True)
    # The columns come last: where they are, the part is whole.
    write_text(folder / f"{part}.conll.gz", texts)
