"""Which fragments say most about classes: scores of features from counts per class, and linguistic constraints.

Works on counts and on fragments as trees; they come from ``maps``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import DataError, ParameterError
from sapwood.trees.array import TreeArray

__all__ = ["chi_squared", "hold_head", "hold_label", "information_gain", "internal_labels"]

Matrix = NDArray[np.float64]
Heads = Callable[[str, tuple[str, ...]], int] | Mapping[tuple[str, tuple[str, ...]], int]


def chi_squared(present: Matrix, totals: Matrix) -> Matrix:
    """Return Pearson's χ² of presence and class for each feature.

    Parameters
    ----------
    present : array of shape (classes, features)
        How many examples of each class have the feature.
    totals : array of shape (classes,)
        How many examples each class has.

    Examples
    --------
    >>> chi_squared(np.array([[10.0, 5.0], [0.0, 5.0]]), np.array([10.0, 10.0]))
    array([20.,  0.])
    """
    everything = totals.sum()
    result = np.zeros(present.shape[1])
    for observed in (present, totals[:, None] - present):
        expected = totals[:, None] * (observed.sum(axis=0) / everything)
        result += np.divide((observed - expected) ** 2, expected, out=np.zeros_like(expected), where=expected > 0).sum(
            axis=0
        )
    return result


def information_gain(present: Matrix, totals: Matrix) -> Matrix:
    """Return how many bits about the class each feature's presence gives; parameters as for ``chi_squared``.

    Examples
    --------
    >>> information_gain(np.array([[10.0, 5.0], [0.0, 5.0]]), np.array([10.0, 10.0]))
    array([1., 0.])
    """
    everything = totals.sum()
    absent = totals[:, None] - present
    gain = np.full(present.shape[1], _entropy(totals[:, None])[0])
    for side in (present, absent):
        gain -= side.sum(axis=0) / everything * _entropy(side)
    return np.asarray(np.maximum(gain, 0.0))


def _entropy(counts: Matrix) -> Matrix:
    total = counts.sum(axis=0)
    share = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    logs = np.log2(share, out=np.zeros_like(share), where=share > 0)
    return np.asarray(-(share * logs).sum(axis=0))


def hold_label(fragments: TreeArray, wanted: str | Callable[[str], bool]) -> NDArray[np.bool_]:
    """Tell which fragments have a node with a certain label.

    Parameters
    ----------
    fragments : TreeArray
    wanted : str or callable
        A pattern with ``*`` and ``?``, such as ``"*-ARG"``, or a function from labels to True or False.

    Examples
    --------
    >>> hold_label(TreeArray(["(S NP-ARG VP)", "(VP VBD NP)"]), "*-ARG")
    array([ True, False])
    """
    labels, node_labels, child_ends, children, roots = fragments._arena.dump(fragments._roots)
    if isinstance(wanted, str):
        pattern = wanted
        fits = [fnmatchcase(label, pattern) for label in labels]
    elif callable(wanted):
        fits = [bool(wanted(label)) for label in labels]
    else:
        raise ParameterError(f"holds must be a pattern such as '*-ARG' or a function of labels, got {wanted!r}.")
    ends, kids = child_ends.tolist(), children.tolist()
    held: list[bool] = []
    begin = 0
    for label, end in zip(node_labels.tolist(), ends, strict=True):
        held.append(fits[label] or any(held[child] for child in kids[begin:end]))
        begin = end
    return np.array(held, dtype=bool)[roots] if len(roots) else np.zeros(0, dtype=bool)


def hold_head(fragments: TreeArray, heads: Heads, nonterminals: frozenset[str]) -> NDArray[np.bool_]:
    """Tell which fragments reach down to the head word of their root.

    Parameters
    ----------
    fragments : TreeArray
    heads : callable or mapping
        Takes a label and the labels of the children (as a call with both, or as a key of both) and gives the position
        of the head child, from 0.
    nonterminals : frozenset of str
        Labels of nodes with children in the data: a leaf with one of these is where a fragment is cut off.

    Examples
    --------
    >>> def last(label, children):
    ...     return len(children) - 1
    >>> hold_head(TreeArray(["(NP DT (NN dog))", "(NP (DT a) NN)"]), last, frozenset({"NP", "DT", "NN"}))
    array([ True, False])
    """
    if not callable(heads) and not isinstance(heads, Mapping):
        raise ParameterError(f"heads must be a function of label and child labels, or a mapping, got {heads!r}.")
    labels, node_labels, child_ends, children, roots = fragments._arena.dump(fragments._roots)
    names = [labels[label] for label in node_labels.tolist()]
    ends, kids = child_ends.tolist(), children.tolist()
    reached: list[bool] = []
    begin = 0
    for name, end in zip(names, ends, strict=True):
        below = kids[begin:end]
        begin = end
        if not below:
            reached.append(name not in nonterminals)
            continue
        head = _head(heads, name, tuple(names[child] for child in below))
        reached.append(reached[below[head]])
    return np.array(reached, dtype=bool)[roots] if len(roots) else np.zeros(0, dtype=bool)


def _head(heads: Heads, label: str, children: tuple[str, ...]) -> int:
    if isinstance(heads, Mapping):
        found: Any = heads.get((label, children), 0 if len(children) == 1 else None)
    else:
        found = heads(label, children)
    if isinstance(found, bool) or not isinstance(found, (int, np.integer)) or not 0 <= found < len(children):
        production = f"{label} -> {' '.join(children)}"
        raise DataError(f"heads gives {found!r} for {production}; expected a position from 0 to {len(children) - 1}.")
    return int(found)


def internal_labels(trees: TreeArray) -> frozenset[str]:
    """Return the labels that nodes with children have.

    >>> sorted(internal_labels(TreeArray(["(NP (DT a) (NN dog))"])))
    ['DT', 'NN', 'NP']
    """
    labels, node_labels, child_ends, _, _ = trees._arena.dump(trees._roots)
    arity = np.diff(child_ends.astype(np.int64), prepend=0)
    return frozenset(labels[label] for label in np.unique(node_labels[arity > 0]).tolist())
