"""Fingerprints tell work apart, and checkpoints belong to one of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse

import sapwood as sw
from sapwood.errors import ModelFileError
from sapwood.kernels import GrammarDriven, Kernel, SubsetTree
from sapwood.resuming import CheckpointFile, fingerprint
from sapwood.trees import Grammar

TREES = sw.TreeArray(["(S (NP (NN dog)) (VP (VB run)))", "(S (NP (NN cat)))"])
LONG = [(f"X{k}", ["A", "B"], 1) for k in range(100)]


class Own(Kernel):
    """A kernel that no model file can hold."""

    def __init__(self, power: int = 1) -> None:
        self.power = power

    def _gram(self, X: Any, Y: Any) -> Any:
        return np.ones((len(X), len(X if Y is None else Y)))


DIFFERENT: list[Any] = [
    None,
    "",
    "None",
    1,
    1.0,
    [],
    [[]],
    ["ab", "c"],
    ["a", "bc"],
    {"a": 1},
    {"a": 2},
    np.zeros(3),
    np.zeros((3, 1)),
    np.zeros(3, dtype=np.float32),
    np.array([{"word": "dog"}, {"word": "cat"}], dtype=object),
    sparse.csr_array(np.eye(2)),
    sparse.csr_array(np.eye(2, 3)),
    TREES,
    TREES[::-1],
    sw.Examples(tree=TREES),
    sw.Examples(tree=TREES, flat=np.eye(2)),
    SubsetTree(0.3),
    SubsetTree(0.4),
    GrammarDriven(Grammar(LONG)),
    # Long rules are left out of what the kernel looks like.
    GrammarDriven(Grammar([*LONG[:-1], ("Y", ["A", "B"], 1)])),
    Own(),
    Own(2),
]


def test_different_values_have_different_fingerprints() -> None:
    assert len({fingerprint(value) for value in DIFFERENT}) == len(DIFFERENT)


@pytest.mark.parametrize(
    ("one", "same"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (TREES, sw.TreeArray(TREES.to_strings())),
        (SubsetTree(0.4), SubsetTree(decay=0.4)),
        (Own(2), Own(power=2)),
        (np.eye(3), np.asfortranarray(np.eye(3))),
    ],
    ids=["mapping", "trees", "kernel", "own kernel", "array"],
)
def test_equal_values_have_the_same_fingerprint(one: Any, same: Any) -> None:
    assert fingerprint(one) == fingerprint(same)


def test_a_checkpoint_comes_back_and_is_removed(tmp_path: Path) -> None:
    file = CheckpointFile(tmp_path / "state.sap", fingerprint("one"), seconds=0.0)
    assert file.wanted
    assert file.read() is None
    file.write({"done": 3}, {"weights": np.arange(4.0)})
    found = CheckpointFile(tmp_path / "state.sap", fingerprint("one")).read()
    assert found is not None
    assert found.values == {"done": 3}
    np.testing.assert_array_equal(found.arrays["weights"], np.arange(4.0))
    with pytest.raises(ModelFileError, match="other data or parameters"):
        CheckpointFile(tmp_path / "state.sap", fingerprint("two")).read()
    file.remove()
    assert file.read() is None


def test_without_a_path_nothing_is_kept() -> None:
    file = CheckpointFile(None, "", seconds=0.0)
    file.write({"done": 3}, {})
    assert not file.wanted
    assert file.read() is None
    file.remove()
