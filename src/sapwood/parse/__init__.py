"""From words to trees: tokenising, parsing with probabilities and n-best lists, and incremental trees.

Stands on ``trees`` alone. Reading the output of other parsers from files belongs in ``corpora``.
"""
