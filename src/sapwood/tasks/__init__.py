"""One package per job: data in; labels, roles, frames or rankings out.

A task holds what its job needs beyond the packages below (which trees to show the kernel, which features, which
constraints) and an estimator that is trained, saved and asked like any other. Reproducing published tables belongs in
``experiments``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sapwood.lazy import lazy_names

if TYPE_CHECKING:
    from sapwood.tasks import attachment, frames, pairs, questions, reranking, roles, spacy
    from sapwood.tasks.tabulating import to_frame

__all__ = ["attachment", "frames", "pairs", "questions", "reranking", "roles", "spacy", "to_frame"]

__getattr__, __dir__ = lazy_names(__name__, {**dict.fromkeys(__all__), "to_frame": "tabulating"})
