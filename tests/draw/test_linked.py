"""Two trees that face each other, with lines between words."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest

from sapwood import Tree
from sapwood.draw import linked_svg
from sapwood.errors import DataError

FIRST = Tree.fromstring("(S (NP (DT the) (NN dog)) (VP (VBD ran)))")
SECOND = Tree.fromstring("(NP (DT a) (NN <cat>))")


def test_every_node_and_every_link_is_there() -> None:
    picture = linked_svg(FIRST, SECOND, [(0, 0, 1.0), (1, 1, -0.5)])
    root = ElementTree.fromstring(picture)
    texts = [one.text for one in root.iter() if one.tag.endswith("text")]
    assert texts == ["S", "NP", "DT", "the", "NN", "dog", "VP", "VBD", "ran", "NP", "DT", "a", "NN", "<cat>"]
    paths = [one for one in root.iter() if one.tag.endswith("path")]
    assert [one[0].text for one in paths] == ["dog ~ <cat>: -0.5", "the ~ a: 1"]
    assert "dasharray" in paths[0].get("style", "")
    assert "dasharray" not in paths[1].get("style", "")


def test_leaves_face_each_other_and_nothing_leaves_the_picture() -> None:
    picture = linked_svg(FIRST, SECOND, [])
    root = ElementTree.fromstring(picture)
    places = {one.text: (float(one.get("x", 0)), float(one.get("y", 0))) for one in root.iter() if one.get("x")}
    assert places["the"][1] == places["ran"][1] < places["a"][1] == places["<cat>"][1]
    assert places["S"][1] < places["VBD"][1] < places["the"][1]
    width, height = (float(root.get(name, 0)) for name in ("width", "height"))
    assert all(0 < x < width and 0 < y < height for x, y in places.values())


@pytest.mark.parametrize("link", [(3, 0, 1.0), (0, 2, 1.0), (-1, 0, 1.0), (0, 0, float("nan"))])
def test_links_that_do_not_fit(link: tuple[int, int, float]) -> None:
    with pytest.raises(DataError, match="does not fit trees of 3 and 2 leaves"):
        linked_svg(FIRST, SECOND, [link])


def test_trees_too_large_to_look_at() -> None:
    deep = Tree.fromstring("(A " * 3000 + "b" + ")" * 3000)
    assert not re.search("<path", linked_svg(deep, SECOND, [(0, 0, 1.0)]))
