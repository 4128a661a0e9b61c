"""Roles over a sentence, as layers of spans: a proposition is a layer, its arguments are spans.

How spans look is the business of ``spans`` and ``inline``; here is what of them is special to roles.
"""

from __future__ import annotations

from typing import Any

from sapwood.draw.html import page
from sapwood.draw.inline import displacy_spans, span_brackets
from sapwood.draw.picture import Picture
from sapwood.draw.spans import LabeledSpan, SpanLayer, span_svg
from sapwood.trees.propositions import RoleSentence

__all__ = ["displacy_roles", "role_layers", "roles_html", "roles_page", "roles_text"]


def role_layers(sentence: RoleSentence) -> list[SpanLayer]:
    """Return one layer per proposition, for anything that draws spans.

    >>> from sapwood.draw import span_text
    >>> from sapwood.trees import Argument, Proposition
    >>> p = Proposition(1, "bark", (Argument("A0", 0, 0), Argument("V", 1, 1)))
    >>> sentence = RoleSentence(("Dogs", "bark", "."), (p,))
    >>> print(span_text(sentence.words, role_layers(sentence)))
    Dogs bark .
    [A0] [V-]   bark
    """
    return [
        SpanLayer(one.title, [LabeledSpan(a.role, a.first, a.last, a.meaning) for a in one.arguments], note=one.meaning)
        for one in sentence.propositions
    ]


def roles_text(sentence: RoleSentence) -> str:
    """Write each proposition on one line, arguments in brackets.

    >>> from sapwood.trees import Argument, Proposition
    >>> p = Proposition(1, "bark", (Argument("A0", 0, 0), Argument("V", 1, 1)))
    >>> print(roles_text(RoleSentence(("Dogs", "bark", "."), (p,))))
    bark: [A0 Dogs] [V bark] .
    """
    return span_brackets(sentence.words, role_layers(sentence))


def displacy_roles(sentence: RoleSentence, *, style: str = "span") -> list[dict[str, Any]]:
    """Return one dictionary per proposition, for ``displacy.render(..., style=style, manual=True)``.

    Parameters
    ----------
    sentence : RoleSentence
        Words and propositions.
    style : {"span", "ent"}
        Spans by tokens, or by characters.

    Examples
    --------
    >>> from sapwood.trees import Argument, Proposition
    >>> p = Proposition(1, "bark", (Argument("A0", 0, 0), Argument("V", 1, 1)))
    >>> displacy_roles(RoleSentence(("Dogs", "bark"), (p,)), style="ent")[0]["ents"]
    [{'start': 0, 'end': 4, 'label': 'A0'}, {'start': 5, 'end': 9, 'label': 'V'}]
    """
    return displacy_spans(sentence.words, role_layers(sentence), style=style)


def roles_html(sentence: RoleSentence) -> Picture:
    """Draw the propositions of a sentence under its words, as notebooks and the explorer show them."""
    return span_svg(sentence.words, role_layers(sentence))


def roles_page(sentences: list[RoleSentence], title: str = "Semantic roles") -> str:
    """Draw many sentences on a page that needs nothing else to be shown."""
    return page(title, [roles_html(sentence) for sentence in sentences])
