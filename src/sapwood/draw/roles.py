"""Roles over a sentence: as text, as HTML, and as the dictionaries that displaCy draws."""

from __future__ import annotations

from html import escape
from typing import Any

from sapwood.draw.html import page
from sapwood.draw.picture import Picture
from sapwood.trees.propositions import Proposition, RoleSentence

__all__ = ["displacy_roles", "roles_html", "roles_page", "roles_text"]

# Pale enough for black letters, different enough side by side.
_COLOURS = ("#ffd8a8", "#a5d8ff", "#b2f2bb", "#fcc2d7", "#d0bfff", "#ffec99", "#99e9f2", "#e9ecef")


def roles_text(sentence: RoleSentence) -> str:
    """Write each proposition on one line, arguments in brackets.

    >>> from sapwood.trees import Argument
    >>> p = Proposition(1, "bark", (Argument("A0", 0, 0), Argument("V", 1, 1)))
    >>> print(roles_text(RoleSentence(("Dogs", "bark", "."), (p,))))
    bark: [A0 Dogs] [V bark] .
    """
    if not sentence.propositions:
        return " ".join(sentence.words)
    lines = []
    for proposition in sentence.propositions:
        pieces = [
            f"[{role} {' '.join(words)}]" if role else " ".join(words) for role, words in _cut(sentence, proposition)
        ]
        lines.append(f"{proposition.roleset or proposition.lemma}: {' '.join(pieces)}")
    return "\n".join(lines)


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
    >>> from sapwood.trees import Argument
    >>> p = Proposition(1, "bark", (Argument("A0", 0, 0), Argument("V", 1, 1)))
    >>> displacy_roles(RoleSentence(("Dogs", "bark"), (p,)), style="ent")[0]["ents"]
    [{'start': 0, 'end': 4, 'label': 'A0'}, {'start': 5, 'end': 9, 'label': 'V'}]
    """
    begins, at = [], 0
    for word in sentence.words:
        begins.append(at)
        at += len(word) + 1
    text = " ".join(sentence.words)
    drawn = []
    for proposition in sentence.propositions:
        title = proposition.roleset or proposition.lemma
        if style == "ent":
            found = [
                {"start": begins[a.first], "end": begins[a.last] + len(sentence.words[a.last]), "label": a.role}
                for a in proposition.arguments
            ]
            drawn.append({"text": text, "ents": found, "title": title})
        else:
            spans = [{"start_token": a.first, "end_token": a.last + 1, "label": a.role} for a in proposition.arguments]
            drawn.append({"text": text, "tokens": list(sentence.words), "spans": spans, "title": title})
    return drawn


def roles_html(sentence: RoleSentence) -> Picture:
    """Draw the propositions of a sentence, one line each, roles under coloured words."""
    if not sentence.propositions:
        return Picture(f"<p>{escape(' '.join(sentence.words))}</p>")
    shown = []
    roles = sorted({argument.role.removeprefix("C-") for one in sentence.propositions for argument in one.roles})
    colours = {role: _COLOURS[at % (len(_COLOURS) - 1)] for at, role in enumerate(roles)} | {"V": _COLOURS[-1]}
    for proposition in sentence.propositions:
        pieces = []
        for role, words in _cut(sentence, proposition):
            text = escape(" ".join(words))
            colour = colours.get(role.removeprefix("C-"), _COLOURS[-1]) if role else ""
            pieces.append(
                f'<mark style="background:{colour};color:#1c2526;padding:0.15em 0.3em;border-radius:0.3em">{text}'
                f" <small><b>{escape(role)}</b></small></mark>"
                if role
                else text
            )
        name = escape(proposition.roleset or proposition.lemma)
        shown.append(f'<p style="line-height:2"><code>{name}</code> {" ".join(pieces)}</p>')
    return Picture(f'<div class="sapwood">{"".join(shown)}</div>')


def roles_page(sentences: list[RoleSentence], title: str = "Semantic roles") -> str:
    """Draw many sentences on a page that needs nothing else to be shown."""
    return page(title, [roles_html(sentence) for sentence in sentences])


def _cut(sentence: RoleSentence, proposition: Proposition) -> list[tuple[str, list[str]]]:
    """Cut the words into stretches, each with its role or none."""
    pieces: list[tuple[str, list[str]]] = []
    at = 0
    for argument in sorted(proposition.arguments, key=lambda one: one.first):
        if argument.first > at:
            pieces.append(("", list(sentence.words[at : argument.first])))
        pieces.append((argument.role, list(sentence.words[max(at, argument.first) : argument.last + 1])))
        at = max(at, argument.last + 1)
    if at < len(sentence.words):
        pieces.append(("", list(sentence.words[at:])))
    return pieces
