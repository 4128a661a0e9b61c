"""
Pages and records as trees
==========================

HTML pages and JSON records that a program makes are told apart by their structure alone.
"""

# %%
# Pages of two kinds: lists of links, and articles with paragraphs. Words are the same in both.

import json
import random

import numpy as np
from sklearn.model_selection import cross_val_score

import sapwood as sw

random.seed(0)
WORDS = ["oak", "elm", "ash", "bark", "leaf", "ring", "root", "seed"]


def words(count):
    """Draw some words."""
    return " ".join(random.choices(WORDS, k=count))


def listing():
    """Make a page with a list of links."""
    items = "".join(f"<li><a href=x>{words(2)}</a>" for _ in range(random.randint(2, 5)))
    return f"<html><body><h1>{words(2)}</h1><ul>{items}</ul></body></html>"


def article():
    """Make a page with paragraphs."""
    texts = "".join(f"<p>{words(4)} <b>{words(1)}</b>" for _ in range(random.randint(2, 5)))
    return f"<html><body><h1>{words(2)}</h1><div>{texts}</div></body></html>"


pages = [listing() if n % 2 else article() for n in range(60)]
X = sw.TreeArray([sw.Tree.from_html(page, text="drop") for page in pages])
y = np.array(["list" if n % 2 else "article" for n in range(60)])
X[:1]

# %%
# Classify, and explain a decision by the fragments of markup that it rests on.

model = sw.learn.KernelSVC(sw.kernels.PartialTree(decay=0.4).normalized())
print(cross_val_score(model, X, y, cv=3).mean())
print(model.fit(X, y).explain(X[:1]))

# %%
# JSON records: which ones have a list of rings with a null in it? ``find`` takes patterns as linguists write them.

records = [json.dumps({"name": words(1), "rings": random.choices([1, 2, None], k=3)}) for _ in range(5)]
trees = sw.TreeArray([sw.Tree.from_json(record) for record in records])
for record, hit in zip(records, trees.contains("rings << null")):
    print(hit, record)
