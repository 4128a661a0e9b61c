"""Names of the Penn Treebank: parts of speech by kind, the spelling of brackets, the forms of auxiliaries."""

from __future__ import annotations

__all__ = [
    "ADJECTIVE_TAGS",
    "ADVERB_TAGS",
    "AUXILIARY_TAGS",
    "BE",
    "BRACKETS",
    "FINITE_TAGS",
    "HAVE",
    "NOUN_TAGS",
    "PUNCTUATION_TAGS",
    "QUESTION_TAGS",
    "VERB_TAGS",
    "WRITTEN",
    "base_tag",
    "written_word",
]

NOUN_TAGS = ("NN", "NNS", "NNP", "NNPS")
VERB_TAGS = ("VB", "VBD", "VBG", "VBN", "VBP", "VBZ")
AUXILIARY_TAGS = ("AUX", "AUXG")
"""Tags of be, have and do in the trees of some parsers; the treebank itself tags them as verbs."""
FINITE_TAGS = ("VBD", "VBP", "VBZ", "MD")
ADJECTIVE_TAGS = ("JJ", "JJR", "JJS")
ADVERB_TAGS = ("RB", "RBR", "RBS")
QUESTION_TAGS = ("WDT", "WP", "WP$", "WRB")
PUNCTUATION_TAGS = (",", ".", ":", "``", "''", "-LRB-", "-RRB-", "HYPH", "NFP")

BRACKETS = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}
"""How brackets are written as words."""
WRITTEN = {**{penn: sign for sign, penn in BRACKETS.items()}, "``": '"', "''": '"', "`": "'"}
"""How words that the treebank spells in its own way stand in a text."""

BE = frozenset(["be", "am", "is", "are", "was", "were", "been", "being", "'s", "'re", "'m"])
HAVE = frozenset(["have", "has", "had", "having", "'ve", "'d"])

_BASES = {
    tag: tags[0]
    for tags in (NOUN_TAGS[:2], NOUN_TAGS[2:], VERB_TAGS + AUXILIARY_TAGS, ADJECTIVE_TAGS, ADVERB_TAGS)
    for tag in tags
}


def base_tag(tag: str) -> str:
    """Return a tag without what inflection adds to it.

    >>> base_tag("NNS"), base_tag("VBZ"), base_tag("IN")
    ('NN', 'VB', 'IN')
    """
    return _BASES.get(tag, tag)


def written_word(word: str) -> str:
    """Return a word as it stands in a text.

    >>> written_word("-LRB-"), written_word(":-RRB-"), written_word("rain")
    ('(', ':)', 'rain')
    """
    found = WRITTEN.get(word)
    return str(word).replace("-LRB-", "(").replace("-RRB-", ")") if found is None else found
