"""Which sentences mean the same, by more and more kinds of features."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.metrics import log_loss, roc_auc_score

from sapwood.corpora.nursery import Nursery
from sapwood.draw import Bar, bar_chart
from sapwood.draw.svg import fragment_nodes, weighted_svg
from sapwood.experiments.figures import Figure, Part, side_by_side
from sapwood.experiments.measuring import Stopwatch
from sapwood.experiments.tables import Cell, Table
from sapwood.kernels import SubsetTree
from sapwood.tasks.pairs import PairClassifier, PairFeatures
from sapwood.trees import Examples, Tree

__all__ = ["ABOUT", "TITLE", "run"]

TITLE = "Sentence pairs and paraphrases"
ABOUT = "Do two sentences mean the same? Shared words come first; syntax, meaning and a relaxed grammar are added."

# The groups of columns that belong to kernels, for people.
_GROUPS = {
    "subtree": "subtrees",
    "subset": "subset trees",
    "partial": "partial trees",
    "semantic": "similar words",
    "relaxed": "relaxed grammar",
}
_STEPS = (
    ("shared words", ("lexical",)),
    ("+ syntax", ("lexical", "subtree", "subset", "partial")),
    ("+ meaning", ("lexical", "subtree", "subset", "partial", "semantic")),
    ("+ relaxed grammar", ("lexical", "subtree", "subset", "partial", "semantic", "relaxed")),
)


def run(corpus: Nursery) -> Iterator[Part]:
    """Train and test one classifier per set of features, and explain a decision of the last."""
    first, second = ([getattr(pair, side) for pair in corpus.pairs] for side in ("first", "second"))
    pairs = Examples(first=corpus.trees[first], second=corpus.trees[second])
    same = np.array(["same" if pair.same else "different" for pair in corpus.pairs])
    # Sentences grown from one event stay on one side.
    groups = np.array([corpus.sentences[number].group for number in first])
    train, test = np.flatnonzero(groups % 3 != 0), np.flatnonzero(groups % 3 == 0)
    similarity = corpus.lexicon.similarity()
    rows: list[tuple[Cell, ...]] = []
    for name, chosen in _STEPS:
        features = PairFeatures(chosen, coarse_decays=(0.4,), similarity=similarity)
        with Stopwatch() as training:
            model = PairClassifier(features).fit(pairs[train], same[train])
        with Stopwatch() as asking:
            probability = model.predict_proba(pairs[test])[:, 1]
        truth = same[test] == "same"
        scores = [float(score(truth, probability)) for score in (log_loss, roc_auc_score)]
        accuracy = float(np.mean((probability > 0.5) == truth))
        rows.append((name, *scores, accuracy, training.wall, round(len(test) / asking.wall)))
    yield Table(
        "pairs",
        f"Trained on {len(train):,} pairs, tested on {len(test):,}",
        ("features", "log-loss", "AUC", "accuracy", "seconds", "pairs/s"),
        rows,
        {"log-loss": 3, "AUC": 3, "accuracy": 3},
    )
    shown = next(int(k) for k in test if not corpus.pairs[k].same)
    sentences = [" ".join(corpus.sentences[number].words) for number in (first[shown], second[shown])]
    told = model.explain(pairs[shown : shown + 1], top=8)
    bars = [Bar(_plain(name), added, "for the same" if added > 0 else "against") for name, _, added in told.rows]
    yield Figure(
        "Why this pair was classified as it was: what each feature adds to the log-odds",
        bar_chart("Contributions of features to the log-odds", bars, label="log-odds of meaning the same"),
        f"{sentences[0]}\n{sentences[1]}\n{model.explain(pairs[shown : shown + 1], top=5)}",
        (*sentences, f"Judged {told.label}, with a probability of {told.probability:.3f} that they mean the same."),
    )
    yield _shared(corpus, [int(k) for k in test])


def _plain(feature: str) -> str:
    """Return the name of a column for people.

    >>> _plain("lexical__length_difference"), _plain("subset__0.8"), _plain("semantic__words")
    ('length difference', 'subset trees, decay 0.8', 'similar words, words alone')
    """
    group, _, part = feature.partition("__")
    if group not in _GROUPS:
        return part.replace("_", " ")
    return f"{_GROUPS[group]}, {'words alone' if part == 'words' else f'decay {part}'}"


def _shared(corpus: Nursery, numbers: list[int]) -> Figure:
    """Show the paraphrases of a dozen words or less whose trees have most in common without being the same."""
    kernel = SubsetTree(decay=0.4).normalized()
    candidates = [
        (corpus.sentences[pair.first].tree, corpus.sentences[pair.second].tree)
        for pair in (corpus.pairs[number] for number in numbers)
        if pair.same and len(corpus.sentences[pair.first].words) <= 9 and len(corpus.sentences[pair.second].words) <= 9
    ]
    values = kernel.pairwise([one for one, _ in candidates], [other for _, other in candidates])
    one, other = candidates[int(np.argmax(np.where(values < 0.9, values, 0.0)))]
    found = kernel.explain(one, other, top=200)
    pictures = []
    for tree in (one, other):
        weights = np.zeros(tree.size())
        for fragment in found.fragments:
            weights[fragment_nodes(tree, fragment.tree)] += fragment.weight
        marked = np.flatnonzero(weights).tolist()
        pictures.append(("", weighted_svg(tree, weights.tolist(), marked=marked)))
    heaviest = max((fragment.tree for fragment in found.fragments), key=Tree.size)
    return Figure(
        f"Two sentences that mean the same, and what their trees share: K = {found.value:.3f}",
        side_by_side(*pictures),
        notes=(
            f"Orange, framed: nodes of shared fragments, the stronger the more of the value of {kernel!r} goes through "
            f"them. The largest fragment that both hold: {heaviest}",
        ),
        wide=True,
    )
