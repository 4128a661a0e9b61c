"""Which sentences mean the same, by more and more kinds of features."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from sklearn.metrics import log_loss, roc_auc_score

from sapwood.corpora.nursery import Nursery
from sapwood.corpora.nursery.similarity import synonyms
from sapwood.experiments.tables import Table
from sapwood.tasks.pairs import PairClassifier, PairFeatures
from sapwood.trees import Examples

__all__ = ["TITLE", "run"]

TITLE = "Compare sentence pairs"

_STEPS = (
    ("shared words", ("lexical",)),
    ("+ syntax", ("lexical", "subtree", "subset", "partial")),
    ("+ meaning", ("lexical", "subtree", "subset", "partial", "semantic")),
    ("+ loosened grammar", ("lexical", "subtree", "subset", "partial", "semantic", "loosened")),
)


def run(garden: Nursery) -> Iterator[Table | str]:
    """Train and test one classifier per set of features, and explain a decision of the last."""
    first, second = ([getattr(pair, side) for pair in garden.pairs] for side in ("first", "second"))
    pairs = Examples(first=garden.trees[first], second=garden.trees[second])
    same = np.array(["same" if pair.same else "different" for pair in garden.pairs])
    # Sentences grown from one event stay on one side.
    groups = np.array([garden.sentences[number].group for number in first])
    train, test = np.flatnonzero(groups % 3 != 0), np.flatnonzero(groups % 3 == 0)
    similarity = synonyms(garden.lexicon)
    rows = []
    for name, chosen in _STEPS:
        features = PairFeatures(chosen, coarse_decays=(0.4,), similarity=similarity)
        start = time.perf_counter()
        model = PairClassifier(features).fit(pairs[train], same[train])
        trained = time.perf_counter()
        probability = model.predict_proba(pairs[test])[:, 1]
        speed = len(test) / (time.perf_counter() - trained)
        truth = same[test] == "same"
        rows.append(
            (
                name,
                float(log_loss(truth, probability)),
                float(roc_auc_score(truth, probability)),
                float(np.mean((probability > 0.5) == truth)),
                trained - start,
                round(speed),
            )
        )
    yield Table(
        "pairs",
        f"Trained on {len(train):,} pairs, tested on {len(test):,}",
        ("features", "log-loss", "AUC", "accuracy", "seconds", "pairs/s"),
        rows,
        {"log-loss": 3, "AUC": 3, "accuracy": 3},
    )
    shown = next(int(k) for k in test if not garden.pairs[k].same)
    sentences = [" ".join(garden.sentences[number].words) for number in (first[shown], second[shown])]
    yield f"{sentences[0]}\n{sentences[1]}\n{model.explain(pairs[shown : shown + 1], top=5)}"
