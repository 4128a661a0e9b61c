"""Print the oldest versions that ``pyproject.toml`` allows, for pip: ``python tests/minimum.py``.

Those of all hard dependencies and of the extras whose packages are tested without other programs.
"""

from __future__ import annotations

import re
import tomllib

from paths import ROOT

EXTRAS = ("encoder", "scale", "wordnet")


def minimum() -> list[str]:
    """Return each package with its oldest version.

    >>> [text for text in minimum() if text.startswith("numpy")]
    ['numpy==2.0']
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *(one for extra in EXTRAS for one in project["optional-dependencies"][extra])]
    found = [re.fullmatch(r"([\w-]+)>=([\d.]+)", one) for one in wanted]
    assert all(found), f"a dependency has no oldest version: {wanted}"
    return [f"{one[1]}=={one[2]}" for one in found if one]


if __name__ == "__main__":
    print(*minimum())
