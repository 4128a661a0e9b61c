"""Real sentences by the English models, then every task on the built-in corpus, in seconds and without any data.

A section is a module with a ``TITLE``, a sentence ``ABOUT`` it and ``run(corpus)``, a generator of finished tables,
figures and texts. The nursery is a synthetic corpus, not a benchmark: the figures show that things work, not how well
they do on language.
"""

from __future__ import annotations

__all__ = ["SECTIONS"]

# Modules of this package in the order in which the demonstration shows them.
SECTIONS = ("english", "questions", "pairs", "roles", "frames", "attachment", "reranking")
