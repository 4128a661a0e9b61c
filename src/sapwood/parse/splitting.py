"""Splitting sentences that are too long for a chart at punctuation."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["split_long"]

# Where a clause ends, where a phrase may end, and anywhere.
_CUTS = (frozenset(".!?;…"), frozenset({",", ":", "--", "-", "–", "—", ")", "-RRB-", "''", '"'}))


def split_long(words: Sequence[str], limit: int) -> list[tuple[int, int]]:
    """Return the begin and end of parts of at most ``limit`` words, split after punctuation where possible.

    >>> split_long("I came ; I saw , I won".split(), 6)
    [(0, 6), (6, 8)]
    """
    pieces = []
    begin = 0
    while len(words) - begin > limit:
        # Not before the middle of what is allowed: pieces should be few.
        places = range(begin + limit, begin + limit // 2, -1)
        end = next((at for marks in _CUTS for at in places if words[at - 1] in marks), begin + limit)
        pieces.append((begin, end))
        begin = end
    pieces.append((begin, len(words)))
    return pieces
