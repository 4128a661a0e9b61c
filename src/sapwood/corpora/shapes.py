"""Dependency trees as the ordered trees that kernels compare.

A dependency tree has its words inside, its relations on edges and its tags nowhere: kernels see labels of nodes only.
The shapes here differ in which of the three is put in the middle (Croce, Moschitti and Basili, 2011). They take a
``DependencySentence``, whatever file it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from sapwood.corpora.conllu import DependencySentence, Row
from sapwood.errors import DataError
from sapwood.trees.tree import Tree

__all__ = ["Labels", "kelp_labels", "lexical_centred", "plain_labels", "relation_centred", "words_only"]

Labels = Callable[[Row], tuple[str, str, str]]
"""Gives the labels of a word's relation, tag and lemma nodes."""


def plain_labels(word: Row) -> tuple[str, str, str]:
    """Label nodes with the relation, the tag (the language's own if there is one) and the lemma in lower case.

    >>> plain_labels(Row("1", "Rain", "rain", "NOUN", "NN", deprel="nsubj"))
    ('nsubj', 'NN', 'rain')
    """
    tag = word.xpos if word.xpos != "_" else word.upos
    lemma = word.lemma if word.lemma != "_" else word.form
    return word.deprel, tag, lemma.lower()


def kelp_labels(word: Row) -> tuple[str, str, str]:
    """Label nodes as KeLP does: their kind first, and the lemma with the first letter of its tag.

    >>> kelp_labels(Row("1", "Rain", "rain", "NOUN", "NN", deprel="nsubj"))
    ('SYNT##nsubj', 'POS##NN', 'LEX##rain::n')
    """
    relation, tag, lemma = plain_labels(word)
    return f"SYNT##{relation}", f"POS##{tag}", f"LEX##{lemma}::{tag[0].lower()}"


def relation_centred(
    sentence: DependencySentence, *, labels: Labels = plain_labels, drop_relations: Collection[str] = ("punct",)
) -> Tree:
    """Make the grammatical-relation-centred tree (GRCT).

    Each word is a node labelled with its relation; among its dependents, at its own place in the sentence, stand its
    tag and under that its lemma.

    Parameters
    ----------
    sentence : DependencySentence
        The sentence.
    labels : callable
        What the nodes are called: ``plain_labels``, ``kelp_labels`` or your own.
    drop_relations : collection of str
        Words with these relations are left out, with all that depends on them.

    Examples
    --------
    >>> s = DependencySentence((Row("1", "Rain", "rain", xpos="NN", head="2", deprel="nsubj"),
    ...                         Row("2", "fell", "fall", xpos="VBD", head="0", deprel="root")))
    >>> print(relation_centred(s))
    (root (nsubj (NN rain)) (VBD fall))
    """

    def make(word: Row, before: list[Tree], after: list[Tree]) -> Tree:
        relation, tag, lemma = labels(word)
        return Tree(relation, [*before, Tree(tag, [lemma]), *after])

    return _build(sentence, make, drop_relations)


def lexical_centred(
    sentence: DependencySentence, *, labels: Labels = plain_labels, drop_relations: Collection[str] = ("punct",)
) -> Tree:
    """Make the lexical-centred tree (LCT): lemmas over their dependents, each with its tag and relation as last leaves.

    Parameters are those of ``relation_centred``.

    Examples
    --------
    >>> s = DependencySentence((Row("1", "Rain", "rain", xpos="NN", head="2", deprel="nsubj"),
    ...                         Row("2", "fell", "fall", xpos="VBD", head="0", deprel="root")))
    >>> print(lexical_centred(s))
    (fall (rain NN nsubj) VBD root)
    """

    def make(word: Row, before: list[Tree], after: list[Tree]) -> Tree:
        relation, tag, lemma = labels(word)
        return Tree(lemma, [*before, *after, tag, relation])

    return _build(sentence, make, drop_relations)


def words_only(
    sentence: DependencySentence, *, labels: Labels = plain_labels, drop_relations: Collection[str] = ("punct",)
) -> Tree:
    """Make the dependency tree of the lemmas alone (LOCT), dependents in the order of the sentence.

    Parameters are those of ``relation_centred``.

    Examples
    --------
    >>> s = DependencySentence((Row("1", "Rain", "rain", xpos="NN", head="2", deprel="nsubj"),
    ...                         Row("2", "fell", "fall", xpos="VBD", head="0", deprel="root")))
    >>> print(words_only(s))
    (fall rain)
    """
    return _build(sentence, lambda word, before, after: Tree(labels(word)[2], [*before, *after]), drop_relations)


def _build(
    sentence: DependencySentence,
    make: Callable[[Row, list[Tree], list[Tree]], Tree],
    drop_relations: Collection[str],
) -> Tree:
    words, heads = sentence.words, sentence.heads
    children: list[list[int]] = [[] for _ in range(len(words) + 1)]
    for number, head in enumerate(heads, 1):
        # The root carries the sentence, whatever its relation is called.
        if head == 0 or words[number - 1].deprel not in drop_relations:
            children[head].append(number)
    # Heads first, so that reading the order backwards finds every dependent built.
    order = list(children[0])
    if len(order) != 1:
        raise DataError(f"a dependency tree needs exactly one root, this sentence has {len(order)}.")
    for number in order:
        order.extend(children[number])
    built: dict[int, Tree] = {}
    for number in reversed(order):
        before = [built.pop(child) for child in children[number] if child < number]
        after = [built.pop(child) for child in children[number] if child > number]
        built[number] = make(words[number - 1], before, after)
    return built[order[0]]
