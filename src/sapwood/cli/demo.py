"""``sapwood demo``: Sapwood at work on its built-in corpus, in a minute and without any data."""

from __future__ import annotations

import argparse
import time

from sapwood.cli.arguments import Subparsers, add_threads

__all__ = ["add_parser", "run"]

# From words alone to fragments with gaps, so that the table shows what each kind of fragment adds.
_KERNELS = (
    ("bag of words", "Linear().on('words')"),
    ("subtrees", "Subtree(decay=0.4).normalized().on('tree')"),
    ("subset trees", "SubsetTree(decay=0.2).normalized().on('tree')"),
    ("partial trees", "PartialTree(decay=0.2, depth_decay=0.4).normalized().on('tree')"),
    ("subset trees + words", "SubsetTree(decay=0.2).normalized().on('tree') + Linear().normalized().on('words')"),
)


def add_parser(subparsers: Subparsers[argparse.ArgumentParser]) -> None:
    """Describe the command."""
    parser = subparsers.add_parser(
        "demo",
        help="classify questions of the built-in corpus with each kernel",
        description="Train classifiers of question types on the nursery, a corpus that Sapwood grows from a grammar. "
        "It is a garden, not a benchmark: the figures show that things work, not how well they do on real language.",
    )
    add_threads(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Grow the corpus, train and test one classifier per kernel, and print the table."""
    from collections import Counter

    import numpy as np

    from sapwood.corpora import nursery
    from sapwood.draw import outline
    from sapwood.kernels import parse_kernel
    from sapwood.learn import KernelSVC
    from sapwood.trees import Examples, TreeArray

    questions = [sentence for sentence in nursery.grow().sentences if sentence.label is not None]
    groups = np.unique([sentence.group for sentence in questions], return_inverse=True)[1]
    labels = np.array([sentence.label[1] for sentence in questions if sentence.label is not None])
    examples = Examples(
        tree=TreeArray([sentence.tree for sentence in questions]),
        words=[dict(Counter(word.lower() for word in sentence.tree.leaves())) for sentence in questions],
    )
    # Paraphrases of one sentence stay on one side, or the test would ask what training has answered.
    # A tenth is enough to learn from: with more, every kernel is right about everything that the grammar can say.
    train, test = np.flatnonzero(groups % 10 == 0), np.flatnonzero(groups % 10 != 0)
    print("The nursery: questions grown from a grammar. A garden, not a benchmark.\n")
    print(outline(questions[int(test[0])].tree))
    print(f"\nasks for {labels[test[0]]}; there are {len(set(labels))} such types")
    print(f"training on {len(train):,} questions, testing on {len(test):,}\n")
    print(f"{'kernel':<22}{'accuracy':>9}{'support':>9}{'train':>9}{'predict':>16}")
    for name, expression in _KERNELS:
        start = time.perf_counter()
        model = KernelSVC(kernel=parse_kernel(expression), C=10.0).fit(examples[train], labels[train])
        trained = time.perf_counter()
        accuracy = float(np.mean(model.predict(examples[test]) == labels[test]))
        speed = len(test) / (time.perf_counter() - trained)
        seconds = trained - start
        print(f"{name:<22}{accuracy:>9.3f}{len(model.support_):>9,}{seconds:>7.2f} s{speed:>10,.0f} per s", flush=True)
    return 0
