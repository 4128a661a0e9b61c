"""
Find a good plan by Bayesian optimisation
=========================================

A Gaussian process on trees predicts how good a tree is before it is tried. Here trees are plans of a database: in which
order to join seven tables. To try a plan is to run it. Whatever is shaped like a tree can be searched for in this way.
"""

# sphinx_gallery_thumbnail_number = 2

import warnings

import numpy as np
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import WhiteKernel

import sapwood as sw
from sapwood.draw import Series, line_chart
from sapwood.kernels import PartialTree
from sapwood.learn import GPKernel

random = np.random.default_rng(1)
tables = [f"t{number}" for number in range(7)]
sizes = dict(zip(tables, 10 ** random.uniform(2, 5, 7), strict=True))
shares = {(a, b): 10 ** random.uniform(-5, -1) for a in tables for b in tables if a < b}


def draw_plan():
    """Join two parts at random until one is left."""
    parts = [sw.Tree("scan", [name]) for name in tables]
    while len(parts) > 1:
        first, second = (parts.pop(int(random.integers(len(parts)))) for _ in range(2))
        # The label says what is joined, so that plans with the same join at any place are similar.
        parts.append(sw.Tree("+".join(sorted([*first.leaves(), *second.leaves()])), [first, second]))
    return parts[0]


def rows_of(plan):
    """Return how many rows a plan gives; pairs of tables that are joined let a share of them through."""
    below = plan.leaves()
    rows = np.prod([sizes[name] for name in below])
    return rows * np.prod([shares[a, b] for a in below for b in below if a < b])


def work(plan):
    """Run a plan: each join takes time by the logarithm of the rows that it makes, as with an index."""
    inner = [] if plan.children[0].is_leaf else list(plan.children)
    return (np.log10(1 + rows_of(plan)) if inner else 0.0) + sum(work(child) for child in inner)


plans = list({str(plan): plan for plan in (draw_plan() for _ in range(600))}.values())
pool = sw.TreeArray(plans)
cost = np.array([work(plan) for plan in plans])
pool[int(cost.argmin()) : int(cost.argmin()) + 1]

# %%
# Ten plans are tried at random. Then the process is fitted, after 20 and 30 tries with its decays and weight, and the
# plan with the largest expected improvement is tried next.


def search(tries, seed):
    """Return the lowest cost after each try."""
    tried = list(np.random.default_rng(seed).permutation(len(pool))[:10])
    kernel = GPKernel(1.0 * PartialTree(0.4, depth_decay=0.1).normalized().named("plan")) + WhiteKernel(0.01)
    while len(tried) < tries:
        optimizer = "fmin_l_bfgs_b" if len(tried) in (20, 30) else None
        process = GaussianProcessRegressor(kernel, normalize_y=True, optimizer=optimizer)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a parameter at its bound does no harm here
            kernel = process.fit(pool[tried], cost[tried]).kernel_
        mean, deviation = process.predict(pool, return_std=True)
        gain = cost[tried].min() - mean
        expected = gain * norm.cdf(gain / deviation) + deviation * norm.pdf(gain / deviation)
        expected[tried] = -np.inf
        tried.append(int(expected.argmax()))
    return np.minimum.accumulate(cost[tried])


tries = 40
learnt = np.mean([search(tries, seed) for seed in range(5)], axis=0)
orders = [np.random.default_rng(seed).permutation(len(pool))[:tries] for seed in range(200)]
by_chance = np.mean([np.minimum.accumulate(cost[order]) for order in orders], axis=0)
line_chart(
    f"Best of {len(pool)} plans so far",
    [
        Series("by chance", range(1, tries + 1), by_chance.tolist()),
        Series("Bayesian optimisation", range(1, tries + 1), learnt.tolist()),
        Series("the best there is", [1, tries], [float(cost.min())] * 2, dashed=True),
    ],
    x_label="plans tried",
    y_label="cost of the best plan so far",
)
