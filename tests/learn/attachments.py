"""Groups of alternatives with a best one that can be learnt: a phrase attached to the noun, not to the verb."""

from __future__ import annotations

import numpy as np

import sapwood as sw

NOUNS = ["dog", "cat", "man", "idea", "hill"]
VERBS = ["saw", "met", "made", "knew"]


def attachments(count, *, seed=0, words=True):
    """Return trees, relevance and groups; groups have two to four trees."""
    rng = np.random.default_rng(seed)
    trees, relevance, groups = [], [], []
    for group in range(count):
        noun, other, verb = rng.choice(NOUNS), rng.choice(NOUNS), rng.choice(VERBS)
        np_, pp = f"(NP (DT the) (NN {noun}))", f"(PP (IN of) (NP (NN {other})))"
        made = [
            (2, f"(S (NP (PRP I)) (VP (VBD {verb}) (NP {np_} {pp})))"),
            (1, f"(S (NP (PRP I)) (VP (VBD {verb}) {np_} {pp}))"),
            (0, f"(S (NP (PRP I)) (VP (VBD {verb}) {np_}) {pp})"),
            (0, f"(S (S (NP (PRP I)) (VP (VBD {verb}) {np_})) {pp})"),
        ][: rng.integers(2, 5)]
        for at in rng.permutation(len(made)):
            relevance.append(made[at][0])
            trees.append(made[at][1])
            groups.append(group)
    return sw.TreeArray(trees), np.array(relevance, dtype=float), np.array(groups)
