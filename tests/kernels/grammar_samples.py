"""Trees, rules and a word similarity for the tests of the grammar-driven kernel."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sparse

import sapwood as sw
from sapwood.trees import Grammar
from treebank import sample_trees


class SharedLetters:
    """A stand-in for a word similarity: the share of letters in common, as a dot product of letter counts."""

    def matrix(self, words, others):
        assert words
        assert others

        def features(names):
            rows = np.zeros((len(names), 128))
            for row, name in enumerate(names):
                for letter in name:
                    rows[row, ord(letter)] += 1
            return rows / np.sqrt((rows**2).sum(axis=1, keepdims=True))

        return sparse.csr_array(features(words) @ features(others).T)

    def __eq__(self, other):
        return isinstance(other, SharedLetters)

    __hash__ = None


NOUN_RULES = [
    ("NP", ("DT", "NN"), 1),
    ("NP", ("DT", "JJ", "NN"), 2),
    ("NP", ("NN",), 0),
    ("NP", ("DT", "NX"), 1),
    ("NX", ("NN",), 0),
]


def nouns():
    return Grammar(NOUN_RULES)


def made_up_sentences():
    """Sentences of a small grammar with optional adjectives, adverbs and prepositional phrases."""
    rng = np.random.default_rng(7)
    words = {
        "DT": ["the", "a"],
        "JJ": ["big", "red"],
        "JJR": ["bigger"],
        "NN": ["dog", "cat", "car"],
        "NNS": ["dogs"],
        "VBD": ["saw", "met"],
        "IN": ["in", "on"],
        "RB": ["often"],
    }

    def tag(label):
        return f"({label} {rng.choice(words[label])})"

    def noun(depth=0):
        adjectives = [tag(str(rng.choice(["JJ", "JJR"]))) for _ in range(rng.integers(0, 4))]
        core = [
            "(NP",
            *([tag("DT")] if rng.random() < 0.8 else []),
            *adjectives,
            tag(str(rng.choice(["NN", "NNS"]))),
            ")",
        ]
        inner = " ".join(core)
        return f"(NP {inner} {prepositional(depth + 1)})" if depth < 2 and rng.random() < 0.3 else inner

    def prepositional(depth):
        return f"(PP {tag('IN')} {noun(depth)})"

    def sentence():
        parts = [tag("VBD"), noun()]
        if rng.random() < 0.5:
            parts.insert(rng.integers(0, 2), f"(ADVP {tag('RB')})")
        if rng.random() < 0.5:
            parts.append(prepositional(1))
        return f"(S {noun()} (VP {' '.join(parts)}) {'(. .)' if rng.random() < 0.7 else ''})"

    return sw.TreeArray([sentence() for _ in range(60)])


def treebank_sample():
    """The Penn Treebank sample of NLTK without traces and function tags, or skip the test."""
    return sample_trees(plain=True)
