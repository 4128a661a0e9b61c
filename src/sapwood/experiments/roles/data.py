"""Where sentences with roles come from: three corpora, their parts, and samples of their arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from sapwood import corpora
from sapwood.errors import DataError
from sapwood.experiments.setting import Setting
from sapwood.sources import file_names
from sapwood.tasks.roles.arguments import RoleArguments
from sapwood.trees import Grammar, RoleSentence, Tree
from sapwood.trees.positions import Positions
from sapwood.trees.treebank import read_trees

__all__ = ["CORPORA", "all_arguments", "grammar_of", "read_parts", "sample_arguments"]

CORPORA: dict[str, str] = {
    "ewt-propbank": "English Web Treebank",
    "conll05": "CoNLL-2005, no words",
    "propbank-wsj": "PropBank, Penn sample",
}

"""Their names in the catalog, and what tables call them."""


@lru_cache(maxsize=1)
def read_parts(setting: Setting, name: str) -> dict[str, list[RoleSentence]]:
    """Read the sentences of a corpus: ``train``, ``dev`` and ``test``."""
    place = setting.find(name)
    assert place is not None
    if name == "ewt-propbank":
        return _web(place)
    if name == "conll05":
        return _task(place)
    treebank = setting.find("penn-sample")
    if treebank is None:
        raise DataError("propbank-wsj needs the Penn Treebank sample of NLTK; see sapwood data.")
    return _wall_street(place, treebank)


def sample_arguments(setting: Setting, name: str, part: str, about: int) -> RoleArguments:
    """Take every k-th sentence, so that there are about so many arguments, then draw."""
    sentences = read_parts(setting, name)[part]
    total = sum(len(one.roles) for sentence in sentences for one in sentence.propositions)
    step = max(1, total // (about + about // 8))
    return _collect(name, sentences[setting.seed % step :: step]).sample(about, setting.seed)


def all_arguments(setting: Setting, name: str, part: str) -> RoleArguments:
    """Take all arguments of a part that are constituents."""
    return _collect(name, read_parts(setting, name)[part])


def _collect(name: str, sentences: Sequence[RoleSentence]) -> RoleArguments:
    # All predicates of CoNLL-2005 are verbs, also where a parser has called one a noun.
    return RoleArguments.from_sentences(sentences, verbs_only=name != "conll05")


def grammar_of(setting: Setting, name: str) -> Grammar:
    """Read the rules off all training parses: which arguments were drawn should not matter for what is grammatical."""
    return Grammar.from_trees([one.tree for one in read_parts(setting, name)["train"] if one.tree])


def _web(place: str) -> dict[str, list[RoleSentence]]:
    folder = Path(place).parent
    parts = {}
    for part in ("train", "dev", "test"):
        names = file_names(folder / f"{part}.conll*")
        if not names:
            raise DataError(f"{folder}: there is no {part}.conll.gz; see sapwood data.")
        parts[part] = [_verbs(sentence) for sentence in corpora.propbank_columns.read(names[0])]
    return parts


def _verbs(sentence: RoleSentence) -> RoleSentence:
    """Keep the propositions of verbs."""
    assert sentence.tree is not None
    at = Positions(sentence.tree)
    kept = tuple(one for one in sentence.propositions if at.labels[at.tag(one.predicate)].startswith("VB"))
    return replace(sentence, propositions=kept)


def _task(place: str) -> dict[str, list[RoleSentence]]:
    parts = {"train": "train", "dev": "devel", "test": "test.wsj"}
    return {name: list(corpora.conll05.read_release(place, part)) for name, part in parts.items()}


def _wall_street(place: str, treebank: str) -> dict[str, list[RoleSentence]]:
    by_file: dict[str, list[Any]] = {}
    for instance in corpora.propbank.read(place):
        by_file.setdefault(instance.file, []).append(instance)
    sentences = []
    for path in file_names(treebank):
        instances = by_file.get(Path(path).name, [])
        if not instances:
            continue
        traced = [tree for tree in read_trees(path) if isinstance(tree, Tree)]
        clean = list(read_trees(path, drop_traces=True, drop_function_tags=True))
        for number, (whole, bare) in enumerate(zip(traced, clean, strict=True)):
            assert isinstance(bare, Tree)
            found = [one.proposition(whole) for one in instances if one.sentence == number]
            by_word = tuple(sorted(found, key=lambda one: one.predicate))
            sentences.append(_verbs(RoleSentence(bare.leaves(), by_word, bare, f"{Path(path).name}:{number}")))
    # Files stand in the order of the newspaper; the last ones are other articles, which is what a test needs.
    cut, end = int(0.7 * len(sentences)), int(0.8 * len(sentences))
    return {"train": sentences[:cut], "dev": sentences[cut:end], "test": sentences[end:]}
