"""A slow twin of the recursive network: one node after the other, one number after the other, nothing shared."""

from __future__ import annotations

import math

import numpy as np


class SlowNetwork:
    """Reads the weights of a native network row by row."""

    def __init__(self, weights, *, units, outdegree, labels, outputs, extras):
        stride = (units + 7) // 8 * 8
        rows = np.asarray(weights, dtype=np.float64)[: (1 + len(labels) + outdegree * units + outputs) * stride]
        rows = rows.reshape(-1, stride)
        assert (rows[:, units:] == 0).all()
        rows = rows[:, :units]
        self.outdegree = outdegree
        self.bias = rows[0]
        self.label = {label: rows[1 + k] for k, label in enumerate(labels)}
        first = 1 + len(labels)
        self.child = [rows[first + k * units : first + (k + 1) * units].T for k in range(outdegree)]
        self.output = rows[first + outdegree * units :]
        tail = np.asarray(weights, dtype=np.float64)[len(rows) * stride :].reshape(outputs, extras + 1)
        self.extra, self.output_bias = tail[:, :extras], tail[:, extras]

    def state(self, tree):
        total = self.bias + self.label.get(tree.label, 0.0)
        for k, child in enumerate(tree.children[: self.outdegree]):
            total = total + self.child[k] @ self.state(child)
        return np.tanh(total)

    def __call__(self, tree, extra=()):
        return self.output @ self.state(tree) + self.extra @ np.asarray(extra, dtype=np.float64) + self.output_bias


def setwise(scores, relevance):
    best = max(relevance)
    top = sum(math.exp(s) for s, r in zip(scores, relevance, strict=True) if r == best)
    return -math.log(top / sum(math.exp(s) for s in scores))


def pairwise(scores, relevance, *, every):
    best = max(relevance)
    total = 0.0
    for s, r in zip(scores, relevance, strict=True):
        for t, q in zip(scores, relevance, strict=True):
            if r > q and (every or r == best):
                total += math.log1p(math.exp(t - s))
    return total
