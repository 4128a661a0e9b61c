"""Where a fragment stands in a tree: the nodes that each of its occurrences covers. Pictures are made elsewhere."""

from __future__ import annotations

from sapwood.trees.positions import Positions
from sapwood.trees.tree import Tree

__all__ = ["fragment_places"]


def fragment_places(
    tree: Tree | Positions, fragment: Tree, *, gaps: bool = False, limit: int | None = None
) -> list[list[int]]:
    """Find the occurrences of a fragment, each as the positions, in pre-order, of the nodes that it covers.

    Parameters
    ----------
    tree : Tree or Positions
        Where to look.
    fragment : Tree
        What to look for.
    gaps : bool
        False: where the fragment has children, the tree must have the same ones, as for subset trees. True: the tree
        may have others between them, as for partial trees and for grammars with optional children; of several ways to
        fit at one node, the leftmost is given.
    limit : int, optional
        Stop after so many occurrences.

    Examples
    --------
    >>> tree = Tree.fromstring("(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (DT the) (JJ old) (NN cat))))")
    >>> fragment_places(tree, Tree.fromstring("(NP DT NN)"))
    [[1, 2, 4]]
    >>> fragment_places(tree, Tree.fromstring("(NP DT NN)"), gaps=True)
    [[1, 2, 4], [9, 10, 14]]
    """
    at = tree if isinstance(tree, Positions) else Positions(tree)
    parts = Positions(fragment)
    fits = _fitting(at, parts, gaps)
    found: list[list[int]] = []
    for start in range(len(at)):
        if limit is not None and len(found) == limit:
            break
        if not fits[0][start]:
            continue
        covered = []
        pairs = [(start, 0)]
        while pairs:
            node, part = pairs.pop()
            covered.append(node)
            pairs.extend(zip(_matched(at, parts, fits, node, part), parts.children[part], strict=True))
        found.append(sorted(covered))
    return found


def _fitting(at: Positions, parts: Positions, gaps: bool) -> list[list[bool]]:
    """Say for each node of the fragment and each of the tree whether what is below the one fits below the other."""
    fits = [[False] * len(at) for _ in range(len(parts))]
    for part in range(len(parts) - 1, -1, -1):
        label, wanted = parts.labels[part], parts.children[part]
        for node in range(len(at)):
            if at.labels[node] != label or (not gaps and wanted and len(wanted) != len(at.children[node])):
                continue
            fits[part][node] = len(_matched(at, parts, fits, node, part)) == len(wanted)
    return fits


def _matched(at: Positions, parts: Positions, fits: list[list[bool]], node: int, part: int) -> list[int]:
    """Match children from left to right as early as they fit; that finds a way whenever there is one."""
    wanted = parts.children[part]
    chosen: list[int] = []
    for child in at.children[node]:
        if len(chosen) < len(wanted) and fits[wanted[len(chosen)]][child]:
            chosen.append(child)
    return chosen
