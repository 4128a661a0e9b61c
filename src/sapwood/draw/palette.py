"""The colours of everything that is drawn, for light paper and for dark screens.

Pictures name a colour by its role and carry the light value with them, so that they also look right alone. A page that
includes ``palette_css()`` lets them follow the reader's wish for light or dark, and prints in light colours.
"""

from __future__ import annotations

__all__ = ["COLOURS", "colour", "palette_css"]

# Role → (on light paper, on a dark screen). Numbered ones tell series apart; neighbours differ in lightness too.
COLOURS = {
    "ink": ("#1c2526", "#e4e9e7"),
    "muted": ("#5c6a6a", "#9fadab"),
    "line": ("#d5dcd9", "#3a4644"),
    "paper": ("#fbfcfa", "#151b1b"),
    "card": ("#ffffff", "#1d2525"),
    "shade": ("#eef3ef", "#263130"),
    "accent": ("#2f6b3c", "#8fd19e"),
    "0": ("#1f6f8b", "#6cc3df"),
    "1": ("#c4552d", "#f29a76"),
    "2": ("#3c7d2e", "#93d07f"),
    "3": ("#7a4a9e", "#c59be6"),
    "4": ("#a67c00", "#e5c15a"),
    "5": ("#4a5a6a", "#a9bccd"),
}
_SERIES = sum(name.isdigit() for name in COLOURS)


def colour(role: str | int) -> str:
    """Return a colour as CSS takes it; numbers go round.

    >>> colour("ink")
    'var(--sw-ink,#1c2526)'
    >>> colour(7) == colour(1)
    True
    """
    name = str(role % _SERIES) if isinstance(role, int) else role
    return f"var(--sw-{name},{COLOURS[name][0]})"


def palette_css() -> str:
    """Return the style rules that define the colours: light, dark where the reader prefers it, light on paper.

    >>> palette_css().count("--sw-ink")
    2
    """
    light, dark = (
        ";".join(f"--sw-{name}:{values[side]}" for name, values in COLOURS.items()) + f";color-scheme:{scheme}"
        for side, scheme in enumerate(("light", "dark"))
    )
    return f":root{{{light}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
