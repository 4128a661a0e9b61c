"""First-pass attachment: where the next word of a sentence hangs, chosen among all ways that a treebank knows.

``AttachmentRanker`` learns connection paths and a ranker of the trees that they make; ``evaluate`` counts its errors
per word class. Building the forests is the business of ``sapwood.parse.incremental``.
"""

from __future__ import annotations

from sapwood.lazy import public_names
from sapwood.tasks.attachment.errors import AttachmentErrors, choices, evaluate, frequency_utility
from sapwood.tasks.attachment.ranker import AttachmentRanker

__all__ = ["AttachmentErrors", "AttachmentRanker", "choices", "evaluate", "frequency_utility"]

__dir__ = public_names(__name__)
