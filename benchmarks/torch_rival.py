"""The recursive network in PyTorch, as well as one can write it there: by levels, with shared subtrees, on one thread.

All subtrees of the same height are computed together, one matrix product per child position; products of a position and
a child that several parents have are made once. There are two ways back, automatic and by hand; index tensors are made
beforehand and not counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import sapwood as sw


def available() -> bool:
    try:
        import torch  # noqa: F401
    except ImportError:
        return False
    return True


@dataclass
class _Level:
    nodes: Any  # numbers of the nodes of this height
    labels: Any
    edge_parent: Any  # per child: its parent, among the nodes of this level
    edge_term: Any  # and its product
    terms: list[tuple[int, int, int, Any]]  # products with nodes of this level: position, begin, end, children


class Plan:
    """Index tensors for a set of trees."""

    def __init__(self, X: sw.TreeArray, labels: list[str], outdegree: int, sizes: list[int], best: np.ndarray) -> None:
        import torch

        names, node_labels, ends, children, roots = X._arena.dump(X._roots)
        number = {label: at for at, label in enumerate(labels)}
        label_of = np.array([number[name] for name in names])[node_labels]
        begins = np.concatenate([[0], ends[:-1]]).astype(np.int64)
        kids = [children[b : min(int(e), b + outdegree)] for b, e in zip(begins.tolist(), ends.tolist(), strict=True)]
        height = np.zeros(len(kids), dtype=np.int64)
        for node, below in enumerate(kids):
            if len(below):
                height[node] = height[below].max() + 1
        self.count = len(kids)
        # Products by height of the child, then position.
        wanted = sorted({(int(height[c]), k, int(c)) for below in kids for k, c in enumerate(below)})
        place = {(k, c): at for at, (_, k, c) in enumerate(wanted)}
        self.terms = len(wanted)
        by_level: dict[int, list[tuple[int, int, int, Any]]] = {}
        at = 0
        while at < len(wanted):
            end = at
            while end < len(wanted) and wanted[end][:2] == wanted[at][:2]:
                end += 1
            level, k, _ = wanted[at]
            chosen = torch.tensor([c for _, _, c in wanted[at:end]])
            by_level.setdefault(level, []).append((k, at, end, chosen))
            at = end
        self.levels = []
        for level in range(int(height.max()) + 1):
            nodes = np.flatnonzero(height == level)
            parents = [row for row, node in enumerate(nodes.tolist()) for _ in kids[node]]
            used = [place[k, int(c)] for node in nodes.tolist() for k, c in enumerate(kids[node])]
            self.levels.append(
                _Level(
                    torch.tensor(nodes),
                    torch.tensor(label_of[nodes]),
                    torch.tensor(parents, dtype=torch.long),
                    torch.tensor(used, dtype=torch.long),
                    by_level.get(level, []),
                )
            )
        self.roots = torch.tensor(roots.astype(np.int64))
        self.group = torch.tensor(np.repeat(np.arange(len(sizes)), sizes))
        self.best = torch.tensor(best, dtype=torch.float32)
        self.groups = len(sizes)


class Network:
    """Weights, and the sum of the setwise losses of a plan with its gradient."""

    def __init__(self, units: int, outdegree: int, labels: int) -> None:
        import torch

        torch.set_num_threads(1)
        torch.manual_seed(0)
        scale = units**-0.5
        self.bias = torch.zeros(units)
        self.label = (torch.rand(labels, units) - 0.5) * 2 * scale
        self.child = (torch.rand(outdegree, units, units) - 0.5) * 2 * scale
        self.output = (torch.rand(units) - 0.5) * 2 * scale
        self.units = units

    @property
    def weights(self) -> list[Any]:
        return [self.bias, self.label, self.child, self.output]

    def _scores_loss(self, scores: Any, plan: Plan) -> Any:
        import torch

        most = torch.full((plan.groups,), -torch.inf).scatter_reduce(0, plan.group, scores.detach(), "amax")
        total = torch.zeros(plan.groups).index_add(0, plan.group, torch.exp(scores - most[plan.group]))
        return (torch.log(total) + most).sum() - (scores * plan.best).sum()

    def automatic(self, plan: Plan) -> Any:
        """Loss and gradients by automatic differentiation."""
        import torch

        for weight in self.weights:
            weight.requires_grad_(True)
            weight.grad = None
        states: list[Any] = []
        products: list[Any] = []
        for level in plan.levels:
            total = self.bias + self.label[level.labels]
            if len(level.edge_parent):
                below = torch.cat(products)[level.edge_term]
                total = total.index_add(0, level.edge_parent, below)
            states.append(torch.tanh(total))
            if level.terms:
                local = torch.empty(plan.count, dtype=torch.long)
                local[level.nodes] = torch.arange(len(level.nodes))
                for k, _, _, chosen in level.terms:
                    products.append(states[-1][local[chosen]] @ self.child[k])
        order = torch.empty(plan.count, dtype=torch.long)
        order[torch.cat([level.nodes for level in plan.levels])] = torch.arange(plan.count)
        loss = self._scores_loss(torch.cat(states)[order[plan.roots]] @ self.output, plan)
        loss.backward()
        return loss.detach()

    def by_hand(self, plan: Plan) -> tuple[Any, list[Any]]:
        """The same with the way back written out."""
        import torch

        with torch.no_grad():
            states = torch.empty(plan.count, self.units)
            terms = torch.empty(plan.terms, self.units)
            for level in plan.levels:
                total = self.bias + self.label[level.labels]
                if len(level.edge_parent):
                    total.index_add_(0, level.edge_parent, terms[level.edge_term])
                states[level.nodes] = torch.tanh_(total)
                for k, begin, end, chosen in level.terms:
                    torch.mm(states[chosen], self.child[k], out=terms[begin:end])
            tops = states[plan.roots]
            scores = tops @ self.output
            most = torch.full((plan.groups,), -torch.inf).scatter_reduce_(0, plan.group, scores, "amax")
            share = torch.exp(scores - most[plan.group])
            total = torch.zeros(plan.groups).index_add_(0, plan.group, share)
            loss = (torch.log(total) + most).sum() - (scores * plan.best).sum()
            slope = share / total[plan.group] - plan.best
            gradients = [torch.zeros_like(weight) for weight in self.weights]
            gradients[3] = tops.T @ slope
            state_slopes = torch.zeros_like(states)
            state_slopes.index_add_(0, plan.roots, slope[:, None] * self.output)
            term_slopes = torch.zeros_like(terms)
            for level in reversed(plan.levels):
                for k, begin, end, chosen in level.terms:
                    own = term_slopes[begin:end]
                    gradients[2][k].addmm_(states[chosen].T, own)
                    # A child is in a product of one position once, so rows are distinct.
                    state_slopes[chosen] += own @ self.child[k].T
                here = state_slopes[level.nodes] * (1 - states[level.nodes] ** 2)
                gradients[0] += here.sum(0)
                gradients[1].index_add_(0, level.labels, here)
                if len(level.edge_parent):
                    term_slopes.index_add_(0, level.edge_term, here[level.edge_parent])
            return loss, gradients
