"""Getting corpora that are free to have: from where, on which terms, checked by which digests.

``sapwood data get`` puts them into one folder, laid out so that ``catalog`` finds them, when it is asked to.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree

from sapwood.corpora import web_treebank
from sapwood.downloads import fetch, file_digest
from sapwood.errors import DataError, ParameterError
from sapwood.nltk_data import user_data_folder
from sapwood.writing import write_text

__all__ = ["OBTAINABLE", "Obtainable", "Obtained", "obtain", "obtainable"]

_NLTK = "https://raw.githubusercontent.com/nltk/nltk_data/gh-pages/packages/corpora"
_CRAFT = "https://raw.githubusercontent.com/UCDenver-ccp/CRAFT/HEAD"
_UD = "https://raw.githubusercontent.com/UniversalDependencies/UD_English-EWT/HEAD"
_PROPBANK = "https://github.com/propbank/propbank-release/archive/HEAD.tar.gz"
# Digests of what was got without one being known, in the format of sha256sum.
_KEPT = "SHA256SUMS"

Take = Callable[[str, str], Path]
"""Takes an address and a place in the data folder, and gives the path of the file when it is there."""


@dataclass(frozen=True)
class Obtainable:
    """A corpus that can be got.

    Attributes
    ----------
    names : tuple of str
        Its name in the catalog first, and what else it is called.
    what, license : str
        What it is, and on which terms.
    get : callable
        Takes ``Take``, which fetches one file, and the data folder; makes the corpus.
    place : str
        Where it is found under the data folder.
    whole : tuple of str
        Files under the data folder that are there when all of it is.
    accept : bool
        Whether somebody must say that they meet its terms.
    sha256 : dict
        Digests that are known, by place in the data folder.
    """

    names: tuple[str, ...]
    what: str
    license: str
    get: Callable[[Take, Path], str]
    place: str
    whole: tuple[str, ...]
    accept: bool = False
    sha256: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Obtained:
    """What was got: where it is, what was found out on the way, and digests by file, known before or kept now."""

    path: str
    note: str
    known: dict[str, str]
    kept: dict[str, str]


def obtain(
    name: str,
    *,
    folder: str | os.PathLike[str] | None = None,
    source: str | os.PathLike[str] | None = None,
    accept_terms: bool = False,
    report: Callable[[str, int], None] | None = None,
) -> Obtained:
    """Get a corpus, from the network or from files that are there already.

    Parameters
    ----------
    name : str
        One of ``OBTAINABLE``.
    folder : path, optional
        The data folder to put it into; by default the user's, which is searched for corpora.
    source : path, optional
        A folder or zip file that holds the files, or the file itself; without it they come from the network. What
        was stopped goes on where it ended.
    accept_terms : bool
        Say that you meet the terms of the corpus, where it has some.
    report : callable, optional
        Takes the name of a file and the number of bytes that are there.

    Raises
    ------
    ParameterError
        If there is no such corpus, or its terms are to be accepted first.
    DataError
        If a file cannot be had, or is another one than expected.
    """
    one = obtainable(name)
    place = Path(user_data_folder() if folder is None else folder)
    known: dict[str, str] = {}
    kept: dict[str, str] = {}
    if all((place / file).is_file() for file in one.whole):
        return Obtained(str(place / one.place), "it is there already", known, kept)
    if one.accept and not accept_terms:
        raise ParameterError(f"{one.names[0]} has terms: {one.license}. If you meet them, say so with --accept-terms.")
    before = _read_kept(place)

    def take(address: str, file: str) -> Path:
        target = place / file
        expected = one.sha256.get(file) or before.get(file)
        if not (target.is_file() and expected == file_digest(target)):
            tell = None if report is None else (lambda done: report(target.name, done))
            try:
                found = fetch(target, address, source=source, sha256=expected, report=tell)
            except DataError as error:
                if file in before and "SHA-256" in str(error):
                    raise DataError(f"{error} The expected one is kept in {place / _KEPT} from when it was first got; "
                                    "take its line away if you want the new version.") from None  # fmt: skip
                raise
            if expected is None:
                kept[file] = found
                _write_kept(place, before | kept)
        if expected is not None:
            known[file] = expected
        return target

    note = one.get(take, place)
    return Obtained(str(place / one.place), note, known, kept)


def obtainable(name: str) -> Obtainable:
    """Return what is got under a name."""
    for one in OBTAINABLE:
        if name in one.names:
            return one
    known = ", ".join(one.names[0] for one in OBTAINABLE)
    raise ParameterError(f"there is no corpus called {name!r} that can be got; known are {known}.")


def _read_kept(place: Path) -> dict[str, str]:
    try:
        pairs = [line.split(maxsplit=1) for line in (place / _KEPT).read_text(encoding="utf-8").splitlines()]
    except FileNotFoundError:
        return {}
    return {pair[1]: pair[0] for pair in pairs if len(pair) == 2}


def _write_kept(place: Path, digests: dict[str, str]) -> None:
    write_text(place / _KEPT, [f"{digest}  {file}\n" for file, digest in sorted(digests.items())])


def _nltk(
    package: str, what: str, license: str, names: tuple[str, ...], *, accept: bool, sha256: str = ""
) -> Obtainable:
    """Make the entry of a package of NLTK, which stays packed: readers look into it."""
    file = f"corpora/{package}.zip"

    def get(take: Take, _: Path) -> str:
        take(f"{_NLTK}/{package}.zip", file)
        return ""

    return Obtainable(names, what, license, get, file, (file,), accept, {file: sha256} if sha256 else {})


def _craft(take: Take, folder: Path) -> str:
    """Get the articles that the list of identifiers names, one file each; the list comes to its place last."""
    listed = take(f"{_CRAFT}/articles/ids/craft-pmids.txt", "craft-sources/craft-pmids.txt")
    articles = listed.read_text(encoding="utf-8", errors="replace").split()
    for article in articles:
        if not (article.isascii() and article.isdigit()):
            raise DataError(f"{listed}: expected the number of one article per line, found {article[:40]!r}.")
        name = f"{article}.tree"
        take(f"{_CRAFT}/structural-annotation/treebank/penn/{name}", f"craft-treebank/{name}")
    os.replace(listed, folder / "craft-treebank" / listed.name)
    rmtree(listed.parent)
    return f"{len(articles)} articles"


def _ewt(take: Take, folder: Path) -> str:
    parts = [
        take(f"{_UD}/en_ewt-ud-{part}.conllu", f"ewt-sources/en_ewt-ud-{part}.conllu") for part in web_treebank.PARTS
    ]
    release = take(_PROPBANK, "ewt-sources/propbank-release.tar.gz")
    (folder / "ewt-propbank").mkdir(parents=True, exist_ok=True)
    counts = web_treebank.join(release, [str(part) for part in parts], folder / "ewt-propbank")
    rmtree(folder / "ewt-sources")
    made = ", ".join(f"{part} {counts[part]:,}" for part in web_treebank.PARTS)
    return f"joined sentences: {made}; left out, since the two sources differ: {counts['left out']:,}"


OBTAINABLE: tuple[Obtainable, ...] = (
    Obtainable(
        ("ewt-propbank", "ewt"),
        "English Web Treebank: trees and roles of PropBank's release, words of UD_English-EWT",
        "CC BY-SA 4.0, both parts",
        _ewt,
        "ewt-propbank",
        tuple(f"ewt-propbank/{part}.conll.gz" for part in web_treebank.PARTS),
    ),
    Obtainable(
        ("craft",),
        "CRAFT: trees of biomedical articles",
        "CC BY 3.0",
        _craft,
        "craft-treebank",
        ("craft-treebank/craft-pmids.txt",),
    ),
    _nltk(
        "treebank",
        "Penn Treebank sample of NLTK",
        "a tenth of the Penn Treebank, for non-commercial use only",
        ("penn-sample", "treebank"),
        accept=True,
        sha256="9da92d76c3666cfb6cddeaed0f7e86b344cce0f0928a286d439e555f19c37399",
    ),
    _nltk(
        "qc",
        "TREC questions",
        "no terms are stated with the package; cite Li and Roth (2002)",
        ("trec-train", "trec-test", "qc"),
        accept=False,
        sha256="091fb01e50883014d150acb7d5013d787136968b3f955ae01725a65e7e80f304",
    ),
    _nltk(
        "brown",
        "Brown corpus, words",
        "for non-commercial use",
        ("brown",),
        accept=True,
        sha256="9b275f9b3b95d7bd66ccfb7cd259f445a13bbe5d1f4107aba09fd3e8364bafa6",
    ),
    _nltk("wordnet", "WordNet 3.0", "WordNet's licence: free, with its notice", ("wordnet",), accept=False),
    _nltk(
        "framenet_v17",
        "FrameNet 1.7: lexicon and annotated texts",
        "CC BY 3.0 as the FrameNet project states; NLTK's package says non-commercial purposes",
        ("framenet-1.7", "framenet_v17"),
        accept=True,
    ),
)
"""What ``sapwood data get`` gets besides encoders. Digests are those of copies that were read and tested here."""
