"""One forest as a network sees it: the states of its trees on their first two principal components."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.parse.incremental import Forests

__all__ = ["forest_components"]


def forest_components(
    ranker: Any, forests: Forests, utility: NDArray[np.float64], chosen: int
) -> tuple[NDArray[np.intp], NDArray[np.float64], float]:
    """Project the trees of one forest.

    Parameters
    ----------
    ranker : RecursiveRanker
        A trained network; its ``transform`` gives the state of each tree.
    forests : Forests
        All forests.
    utility : array of float
        The utility of each tree of all forests.
    chosen : int
        The number of the forest.

    Returns
    -------
    members : array of int
        Positions of the forest's trees among all trees.
    places : array of shape (trees, 2)
        Where they lie; the sign of a component means nothing, so that trees of higher utility are put to the right.
    share : float
        The share of the variance that the two components hold.
    """
    members = np.arange(forests.ends[chosen] - forests.sizes[chosen], forests.ends[chosen])
    states = ranker.transform(forests.trees[members])
    centred = states - states.mean(axis=0)
    left, weights, _ = np.linalg.svd(centred, full_matrices=False)
    places = (left * weights)[:, :2] * np.where(left[:, :2].T @ utility[members] < 0, -1.0, 1.0)
    share = float((weights[:2] ** 2).sum() / max(float((weights**2).sum()), 1e-300))
    return members, places, share
