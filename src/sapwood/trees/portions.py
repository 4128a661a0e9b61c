"""Portions of a parse that tell how an argument and its predicate hang together.

A portion is a new, small tree cut out around two places of a large one. Three nodes carry marks: ``-ARG`` on the
argument, ``-PRED`` on the predicate's tag, ``-PATH`` on what lies between. Marks keep portions of different arguments
apart, and protect these nodes where a kernel may delete children; ``Grammar`` takes them off before it looks up rules.
"""

from __future__ import annotations

from sapwood.checks import check_choice
from sapwood.errors import DataError
from sapwood.trees.positions import Positions
from sapwood.trees.tree import Tree

__all__ = ["PORTIONS", "constituent", "path_portion", "portion", "predicate_argument"]

PORTIONS = ("path", "path+siblings", "constituent", "paf", "paf+siblings")
"""The kinds of portions that ``portion`` cuts."""


def portion(at: Positions, argument: int, predicate: int, kind: str, *, lemma: str | None = None) -> Tree:
    """Cut a portion of a given kind; see the functions of their own names.

    Parameters
    ----------
    at : Positions
        The places of the whole tree.
    argument : int
        The place of the argument.
    predicate : int
        The predicate, as the number of its word.
    kind : {"path", "path+siblings", "constituent", "paf", "paf+siblings"}
        Which portion.
    lemma : str, optional
        Written instead of the predicate's word.
    """
    if kind == "constituent":
        return constituent(at, argument)
    check_choice(kind, "kind", PORTIONS)
    shape = path_portion if kind.startswith("path") else predicate_argument
    return shape(at, argument, predicate, siblings=kind.endswith("+siblings"), lemma=lemma)


def constituent(at: Positions, argument: int) -> Tree:
    """Return the argument itself: the whole subtree below it, its root unmarked.

    >>> at = Positions(Tree.fromstring("(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (PRP it)) (NP (NN today))))"))
    >>> print(constituent(at, at.spanning(0, 1)[0]))
    (NP (DT the) (NN dog))
    """
    _check(at, argument)
    return at.nodes[argument]


def path_portion(
    at: Positions, argument: int, predicate: int, *, siblings: bool = False, lemma: str | None = None
) -> Tree:
    """Return the way between argument and predicate; below the argument nothing is kept.

    Parameters
    ----------
    at, argument, predicate, lemma
        As for ``portion``.
    siblings : bool
        Whether what hangs off the way stays as bare labels; otherwise it is dropped, and productions are truncated.

    Examples
    --------
    >>> at = Positions(Tree.fromstring("(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (PRP it)) (NP (NN today))))"))
    >>> object = at.spanning(3, 3)[0]
    >>> print(path_portion(at, object, 2))
    (VP-PATH (VBD-PRED saw) NP-ARG)
    >>> print(path_portion(at, object, 2, siblings=True, lemma="see"))
    (VP-PATH (VBD-PRED see) NP-ARG NP)
    """
    return _cut(at, argument, predicate, siblings, lemma, whole=False)


def predicate_argument(
    at: Positions, argument: int, predicate: int, *, siblings: bool = False, lemma: str | None = None
) -> Tree:
    """Return the predicate-argument portion (PAF): the way between the two, and all that is below the argument.

    >>> at = Positions(Tree.fromstring("(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (PRP it)) (NP (NN today))))"))
    >>> print(predicate_argument(at, at.spanning(0, 1)[0], 2))
    (S-PATH (NP-ARG (DT the) (NN dog)) (VP-PATH (VBD-PRED saw)))
    """
    return _cut(at, argument, predicate, siblings, lemma, whole=True)


def _check(at: Positions, argument: int) -> None:
    if not 0 <= argument < len(at) or not at.children[argument]:
        raise DataError(f"there is no constituent at place {argument}; the tree has {len(at)} places, words included.")


def _cut(at: Positions, argument: int, predicate: int, siblings: bool, lemma: str | None, *, whole: bool) -> Tree:
    _check(at, argument)
    tag = at.tag(predicate)
    rising, falling = at.path(argument, tag)
    word = at.labels[at.leaves[predicate]] if lemma is None else lemma
    ends = {tag: Tree._trusted(f"{at.labels[tag]}-PRED", (Tree(word),))}
    top = rising[-1]
    if argument == tag:
        return ends[tag]
    if argument != top:
        ends[argument] = Tree._trusted(f"{at.labels[argument]}-ARG", at.nodes[argument].children if whole else ())
    # Both ends grow towards the top; where the predicate lies inside the argument, the top is the argument itself.
    for node in [*rising[1:-1], *reversed(falling[:-1]), top]:
        kept = []
        for child in at.children[node]:
            if child in ends:
                kept.append(ends[child])
            elif siblings and at.children[child]:
                kept.append(Tree._trusted(at.labels[child], ()))
        ends[node] = Tree._trusted(f"{at.labels[node]}-{'ARG' if node == argument else 'PATH'}", tuple(kept))
    return ends[top]
