"""What corpora there are, where they may lie, how many items they hold, and how to get those that are missing.

A corpus is looked for under data folders given by the user or in ``SAPWOOD_DATA``, and under the folders in which NLTK
keeps its data. Counting reads the whole corpus with its reader, so it also shows that the files are sound.
"""

from __future__ import annotations

import glob
import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sapwood.corpora import (
    brown,
    conll05,
    conllu,
    framenet,
    kelp,
    nbest,
    pairs,
    propbank,
    propbank_columns,
    questions,
    rolesets,
)
from sapwood.errors import ParameterError
from sapwood.nltk_data import nltk_search_path
from sapwood.trees.propositions import RoleSentence
from sapwood.trees.treebank import iter_tree_blocks

__all__ = ["CATALOG", "Corpus", "Found", "data_folders", "find", "lookup"]

Counts = dict[str, int]


@dataclass(frozen=True)
class Corpus:
    """A corpus that Sapwood can read.

    Attributes
    ----------
    name : str
        What it is called here.
    what : str
        What it holds.
    places : tuple of str
        Paths and patterns under a data folder, in order of preference; they may lead into archives.
    count : callable
        Takes the path that was found and counts what is in it.
    obtain : str
        How to get it.
    """

    name: str
    what: str
    places: tuple[str, ...]
    count: Callable[[str], Counts]
    obtain: str


@dataclass(frozen=True)
class Found:
    """A corpus and the path at which it was found; None if it was not."""

    corpus: Corpus
    path: str | None


def _counting(
    read: Callable[[str], Iterable[Any]], what: str, **sizes: Callable[[Any], int]
) -> Callable[[str], Counts]:
    """Make a function that counts the records of a corpus, and sums sizes over them."""

    def count(path: str) -> Counts:
        totals = dict.fromkeys((what, *sizes), 0)
        for record in read(path):
            totals[what] += 1
            for name, size in sizes.items():
                totals[name] += size(record)
        return totals

    return count


def _trees(path: str) -> Counts:
    return {"trees": sum(len(block) for block in iter_tree_blocks(path, drop_traces=True))}


def _questions(path: str) -> Counts:
    # The published training file is Latin-1; Latin-1 also reads the plain ASCII test file.
    encoding = "latin-1" if path.endswith(".txt") else "utf-8"
    labels = [(question.coarse, question.label) for question in questions.read(path, encoding=encoding)]
    coarse, fine = (len(set(column)) for column in zip(*labels, strict=True))
    return {"questions": len(labels), "coarse labels": coarse, "fine labels": fine}


def _quora(path: str) -> Counts:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        same = [pair.same for pair in pairs.read(path, faulty="skip")]
    faulty = sum(int(str(one.message).split()[2]) for one in caught)
    return {"pairs": len(same), "duplicates": sum(same)} | ({"faulty rows": faulty} if faulty else {})


def _framenet(path: str) -> Counts:
    release = framenet.read(path)
    targets = sum(len(sentence.targets) for sentence in release.sentences)
    return {"frames": len(release.lexicon), "sentences": len(release.sentences), "targets": targets}


def _shared_task(path: str) -> Iterable[RoleSentence]:
    parts = ("train", "devel", "test.wsj", "test.brown")
    return (sentence for part in parts for sentence in conll05.read_release(path, part))


_ROLES = {
    "predicates": lambda sentence: len(sentence.propositions),
    "arguments": lambda sentence: sum(len(proposition.roles) for proposition in sentence.propositions),
}

CATALOG: tuple[Corpus, ...] = (
    Corpus(
        "penn-sample",
        "Penn Treebank sample of NLTK",
        (
            "corpora/treebank/combined/wsj_*.mrg",
            "corpora/treebank.zip/treebank/combined/wsj_*.mrg",
            "treebank/combined/wsj_*.mrg",
            "nltk-zips/treebank.zip/treebank/combined/wsj_*.mrg",
        ),
        _trees,
        "sapwood data get penn-sample (non-commercial use)",
    ),
    Corpus(
        "penn-treebank",
        "Penn Treebank, WSJ sections",
        ("corpora/ptb/wsj/*/wsj_*.mrg", "ptb/wsj/*/wsj_*.mrg", "corpora/ptb/WSJ/*/WSJ_*.MRG"),
        _trees,
        "from the Linguistic Data Consortium (LDC99T42, licence needed); put it at DIR/ptb/wsj/00/wsj_0001.mrg",
    ),
    Corpus(
        "questionbank",
        "QuestionBank: gold trees of questions",
        ("questionbank/4000qs.txt", "questionbank/4000qs.txt.gz"),
        _trees,
        "from its authors (Judge et al. 2006, research use); put it at DIR/questionbank/4000qs.txt",
    ),
    Corpus(
        "ewt",
        "English Web Treebank, constituents",
        ("ewt-propbank/*.trees", "ewt-propbank/*.trees.gz"),
        _trees,
        "sapwood data get ewt: joins PropBank's release with UD_English-EWT (CC BY-SA 4.0)",
    ),
    Corpus(
        "ewt-propbank",
        "English Web Treebank, semantic roles",
        ("ewt-propbank/*.conll", "ewt-propbank/*.conll.gz"),
        _counting(propbank_columns.read, "sentences", **_ROLES),
        "sapwood data get ewt-propbank: joins PropBank's release with UD_English-EWT (CC BY-SA 4.0)",
    ),
    Corpus(
        "conll05",
        "CoNLL-2005 shared task, semantic roles",
        ("conll05/conll05st-release", "conll05/conll05st-release-nowords.tar/conll05st-release"),
        _counting(_shared_task, "sentences", **_ROLES),
        "from the CoNLL-2005 shared task (words need the Penn Treebank); put it at DIR/conll05/conll05st-release",
    ),
    Corpus(
        "propbank-wsj",
        "PropBank over NLTK's Penn sample",
        ("propbank-wsj/prop.txt", "corpora/propbank/prop.txt", "corpora/propbank.zip/propbank/prop.txt"),
        _counting(propbank.read, "predicates"),
        "point propbank-release at NLTK's treebank sample; put it at DIR/propbank-wsj/prop.txt",
    ),
    Corpus(
        "craft",
        "CRAFT: gold trees of biomedical articles",
        (
            "craft-treebank/*.tree",
            "craft-treebank/craft-penn.tar.xz/craft-treebank/*.tree",
            "CRAFT/structural-annotation/treebank/penn/*.tree",
        ),
        _trees,
        "sapwood data get craft (CC BY 3.0); or from https://github.com/UCDenver-ccp/CRAFT, "
        "structural-annotation/treebank/penn, at DIR/craft-treebank",
    ),
    Corpus(
        "gum",
        "GUM, constituents (made by a parser)",
        ("gum/const/*.ptb", "gum/gum-const.tar.xz/const/*.ptb"),
        _trees,
        "https://github.com/amir-zeldes/gum (CC licences); put const/ at DIR/gum/const",
    ),
    Corpus(
        "gum-dependencies",
        "GUM, Universal Dependencies",
        ("gum/dep/*.conllu", "gum/gum-dep-conllu.tar.xz/dep/*.conllu"),
        _counting(conllu.read, "sentences", words=lambda sentence: len(sentence.words)),
        "https://github.com/amir-zeldes/gum (CC licences); put dep/ at DIR/gum/dep",
    ),
    Corpus(
        "trec-train",
        "TREC questions, training",
        ("corpora/qc/train.txt", "corpora/qc.zip/qc/train.txt", "nltk-zips/qc.zip/qc/train.txt"),
        _questions,
        "sapwood data get qc",
    ),
    Corpus(
        "trec-test",
        "TREC questions, test",
        ("corpora/qc/test.txt", "corpora/qc.zip/qc/test.txt", "nltk-zips/qc.zip/qc/test.txt"),
        _questions,
        "sapwood data get qc",
    ),
    Corpus(
        "trec-trees",
        "TREC questions with trees",
        ("trec-qc-trees/*.tsv", "trec-qc-trees/*.tsv.gz"),
        _questions,
        "parse the TREC questions and write them with sapwood.corpora.questions.write(format='trees')",
    ),
    Corpus(
        "trec-kelp",
        "TREC questions with dependency trees, KeLP",
        ("trec-qc-kelp/*.klp", "trec-qc-kelp/*.klp.gz"),
        _counting(partial(kelp.read, trees=()), "examples"),
        "https://github.com/SAG-KeLP/kelp-full, src/main/resources/qc (Apache-2.0); put it at DIR/trec-qc-kelp",
    ),
    Corpus(
        "brown",
        "Brown corpus, words",
        ("corpora/brown/c???", "corpora/brown.zip/brown/c???", "nltk-zips/brown.zip/brown/c???"),
        _counting(brown.read, "documents", words=len),
        "sapwood data get brown (non-commercial use)",
    ),
    Corpus(
        "quora",
        "Quora question pairs",
        ("quora/quora_duplicate_questions.tsv", "quora/*.tsv", "quora/*.txt.gz"),
        _quora,
        "from Quora's data release (its own terms); put it at DIR/quora/quora_duplicate_questions.tsv",
    ),
    Corpus(
        "msr-paraphrase",
        "MSR paraphrase pairs",
        ("msr-paraphrase/msr_paraphrase_*.txt", "msr-paraphrase/msr_paraphrase_*.txt.gz"),
        _counting(pairs.read, "pairs", paraphrases=lambda pair: pair.same),
        "from Microsoft Research (its own terms); put it at DIR/msr-paraphrase/msr_paraphrase_train.txt",
    ),
    Corpus(
        "nbest-wsj",
        "n-best parses of the Penn sample",
        ("nbest-wsj-sample/*.jsonl", "nbest-wsj-sample/*.jsonl.xz", "nbest-wsj-sample/*.jsonl.gz"),
        _counting(nbest.read, "sentences", parses=len),
        "parse with an n-best parser such as BLLIP and write with sapwood.corpora.nbest.write",
    ),
    Corpus(
        "propbank-frames",
        "PropBank's rolesets, and what their roles mean",
        ("propbank-frames/rolesets.jsonl.xz", "propbank-frames/rolesets.jsonl"),
        _counting(rolesets.read, "rolesets"),
        "from github.com/propbank/propbank-frames (CC BY-SA 4.0), one roleset per line; see sapwood.corpora.rolesets",
    ),
    Corpus(
        "framenet",
        "FrameNet 1.5: lexicon and annotated texts",
        ("framenet-1.5/fndata-1.5-core.tar.xz", "framenet-1.5/fndata-1.5", "corpora/framenet_v15"),
        _framenet,
        "from the FrameNet project (non-commercial use), or python -m nltk.downloader framenet_v15; put it at "
        "DIR/framenet-1.5/fndata-1.5",
    ),
    Corpus(
        "framenet-1.7",
        "FrameNet 1.7: lexicon and annotated texts",
        (
            "framenet-1.7/fndata-1.7-core.tar.xz",
            "framenet-1.7/fndata-1.7",
            "corpora/framenet_v17",
            "corpora/framenet_v17.zip",
        ),
        _framenet,
        "sapwood data get framenet-1.7 (CC BY 3.0), or put it at DIR/framenet-1.7/fndata-1.7",
    ),
    Corpus(
        "framenet-parses",
        "parses of FrameNet's annotated texts",
        ("framenet-1.5/fulltext-parses.jsonl.xz", "framenet-1.5/fulltext-parses.jsonl"),
        _counting(framenet.read_parses, "sentences"),
        "parse the tokens of the PENN layer; see sapwood.corpora.framenet.read_parses",
    ),
)
"""The corpora that ``sapwood data`` knows."""


def data_folders(folders: Iterable[str | os.PathLike[str]] = ()) -> list[str]:
    """Return where to look: the folders given, those in ``SAPWOOD_DATA``, NLTK's, and that of ``sapwood data get``."""
    given = [os.fspath(folder) for folder in folders]
    for folder in given:
        if not os.path.isdir(folder):
            raise ParameterError(f"{folder}: is no folder (looked from {os.getcwd()}).")
    own = [folder for folder in os.environ.get("SAPWOOD_DATA", "").split(os.pathsep) if folder]
    return list(dict.fromkeys([*given, *own, *nltk_search_path()]))


def find(folders: Sequence[str], *, names: Sequence[str] = ()) -> list[Found]:
    """Look for corpora.

    Parameters
    ----------
    folders : sequence of str
        Where to look, as ``data_folders`` gives it.
    names : sequence of str
        Which corpora; all if empty.
    """
    wanted = [lookup(name) for name in names] if names else list(CATALOG)
    return [Found(corpus, _first(folders, corpus.places)) for corpus in wanted]


def lookup(name: str) -> Corpus:
    """Return a corpus of the catalog by its name."""
    for corpus in CATALOG:
        if corpus.name == name:
            return corpus
    known = ", ".join(corpus.name for corpus in CATALOG)
    raise ParameterError(f"there is no corpus called {name!r}; known are {known}.")


def _first(folders: Iterable[str], places: Iterable[str]) -> str | None:
    for folder in folders:
        for place in places:
            path = os.path.join(folder, place)
            kind = next((kind for kind in (".zip/", ".tar.xz/", ".tar/") if kind in path), ".zip/")
            head, archive, _ = path.partition(kind)
            if (archive and os.path.isfile(head + archive[:-1])) or (not archive and glob.glob(path)):
                return path
    return None
