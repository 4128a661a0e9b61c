"""The colours and measures of everything that is drawn: trees, spans, charts, reports, the explorer and the site.

A picture names a color by its role and carries a value that can be seen on white and on black, so that it also works
alone. A page that includes ``palette_css()`` lets its pictures follow the reader's wish for light or dark. Text has the
color of the text around it. A label such as a role or a class has one color wherever it is drawn.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

__all__ = ["COLOURS", "FONT", "color_css", "colour", "paint", "paints", "palette_css", "text_width"]

FONT = "system-ui,-apple-system,'Segoe UI','Helvetica Neue','DejaVu Sans',Arial,sans-serif"

# Role → (on light paper, on a dark screen, on a page of which nothing is known). Numbered ones tell labels apart.
COLOURS = {
    "paper": ("#f8f7f3", "#161915", "transparent"),
    "card": ("#ffffff", "#1e221d", "transparent"),
    "shade": ("#eef1ea", "#272d26", "#8881"),
    "ink": ("#23271f", "#e4e7df", "currentColor"),
    "muted": ("#5d6458", "#a0a89a", "currentColor"),
    "line": ("#dcdad0", "#363c34", "#8886"),
    "accent": ("#2d6a3e", "#86c795", "#4e885d"),
    "for": ("#c4501b", "#f08a55", "#ca5a28"),
    "against": ("#2767b0", "#6fa8ec", "#457ec3"),
    "mark": ("#2d6a3e", "#9bdcaa", "#50885d"),
    "0": ("#1f6aa5", "#6cb2ea", "#3d80b9"),
    "1": ("#b0432f", "#ee8d79", "#c35e4b"),
    "2": ("#2f7d43", "#7ecb91", "#408a52"),
    "3": ("#7a4a9c", "#c39be2", "#946ab4"),
    "4": ("#96690c", "#dcb45a", "#9f7420"),
    "5": ("#17777a", "#62c6c8", "#2e888b"),
    "6": ("#a33a72", "#ea8dbe", "#bb5b8d"),
    "7": ("#626d00", "#c3cd5a", "#788221"),
    "8": ("#8a5638", "#d9a584", "#a27053"),
    "9": ("#4653b5", "#9aa5f2", "#6a75cb"),
    "10": ("#5b6470", "#aab3bf", "#747c88"),
}
# The last one is grey: for predicates and whatever is no label.
_SERIES = sum(name.isdigit() for name in COLOURS) - 1
GREY = _SERIES
# Labels that meet in one sentence more than others, so that these never share a color. The explorer has the same list.
_KNOWN = {"A0": 0, "A1": 1, "A2": 2, "A3": 3, "A4": 8, "AM-TMP": 4, "AM-LOC": 5, "AM-MNR": 6, "AM-ADV": 7, "AM-CAU": 9}
_KNOWN |= {"V": GREY, "AM-MOD": GREY, "AM-NEG": GREY}
# The same for FrameNet's roles, a line per color: of frequent roles, those that meet in annotated texts stand apart.
_ROLES = (
    "Activity Donor Event Figure Instrument Quantity Trajector_event Type",
    "Locale Manner Perceiver Person Seller Substance",
    "Building Buyer Count Goal Individuals Phenomenon Use Victim",
    "Content Created_entity Leader Origin Product Theme Weapon",
    "Cause Gift Governed Item Message Possession Purpose",
    "Place Source Topic",
    "Act Entity Ground Unit",
    "Agent Cognizer Experiencer Goods Number Part Recipient Speaker",
    "Degree Name",
    "Descriptor Time",
)
_KNOWN |= {name: number for number, names in enumerate(_ROLES) for name in names.split()}


def colour(role: str | int) -> str:
    """Return a color as CSS takes it; numbers go round.

    >>> colour("accent")
    'var(--sw-accent,#4e885d)'
    >>> colour(11) == colour(1)
    True
    """
    name = str(role % _SERIES if role != GREY else GREY) if isinstance(role, int) else role
    return f"var(--sw-{name},{COLOURS[name][2]})"


def paint(label: str) -> int:
    """Return the number of the color that a label has everywhere: frequent roles by a list, others by their letters.

    >>> paint("A0"), paint("R-A0") == paint("C-ARG0") == paint("A0"), paint("Theme") == paint("Theme")
    (0, True, True)
    """
    name = label
    while name[:2] in ("C-", "R-"):
        name = name[2:]
    if name.startswith("ARGM-"):
        name = f"AM-{name[5:]}"
    elif name.startswith("ARG"):
        name = f"A{name[3:]}"
    if name in _KNOWN:
        return _KNOWN[name]
    number = 0
    for letter in name:
        number = (number * 31 + ord(letter)) % 2**32
    return number % _SERIES


def paints(labels: Iterable[str]) -> dict[str, int]:
    """Return a color for each of several labels, all different where there are enough: its own, or the next free one.

    >>> paints(["A0", "A1", "ARG0"])
    {'A0': 0, 'A1': 1, 'ARG0': 2}
    """
    found: dict[str, int] = {}
    for label in labels:
        if label not in found:
            own = paint(label)
            taken = set(found.values()) if len(found) < _SERIES else set()
            found[label] = next((n for n in ((own + step) % _SERIES for step in range(_SERIES)) if n not in taken), own)
    return found


def color_css(side: int) -> str:
    """Return the definitions of all colors for light (0) or dark (1) pages, to stand within a rule."""
    return ";".join(f"--sw-{name}:{values[side]}" for name, values in COLOURS.items())


def palette_css() -> str:
    """Return the style rules that define the colors: light, dark where the reader prefers it, light on paper.

    >>> palette_css().count("--sw-ink")
    2
    """
    light, dark = (f"{color_css(side)};color-scheme:{scheme}" for side, scheme in enumerate(("light", "dark")))
    return f":root{{{light}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"


_NARROW, _WIDE = frozenset("iljtfrI.,;:'!|()[]`-*\" "), frozenset("mwMW@%")


def text_width(text: str, size: float = 13.0) -> float:
    """Return about how wide a text is in a sans-serif font, rather too wide than too narrow.

    >>> text_width("ill") < text_width("the") < text_width("MMM")
    True
    """
    total = 0.0
    for letter in text:
        if letter in _NARROW:
            total += 0.38
        elif letter in _WIDE or unicodedata.east_asian_width(letter) in "WF":
            total += 1.0
        elif unicodedata.combining(letter):
            continue
        else:
            total += 0.73 if letter.isupper() else 0.62
    return size * total
