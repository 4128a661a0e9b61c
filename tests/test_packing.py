"""Packed arrays: what comes back, how far rounding moves weights, and that nothing in a file is believed."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from sapwood.errors import ModelFileError, ParameterError, TooLargeError
from sapwood.packing import Grid, pack, pack_rounded, unpack, unpack_sparse
from sapwood.registry import Reader, Writer

KINDS = ["bool", "uint8", "int8", "uint16", "int32", "uint32", "uint64", "int64", "float16", "float32", "float64"]
WEIGHTS = arrays.arrays(
    np.float32,
    arrays.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=8),
    elements=st.floats(-100, 100, width=32, allow_subnormal=False),
)


def trip(parts: dict[str, Any], about: dict[str, Any]) -> Any:
    return unpack("a0", {f"a0{ending}": part for ending, part in parts.items()}, about, lambda size: None)


@given(st.data(), st.sampled_from(KINDS))
def test_what_is_squeezed_comes_back_bit_by_bit(data: st.DataObject, kind: str) -> None:
    values = data.draw(arrays.arrays(kind, arrays.array_shapes(min_dims=0, max_dims=3, min_side=0)))
    again = trip(*pack(values))
    assert (again.dtype, again.shape) == (values.dtype, values.shape)
    assert again.tobytes() == values.tobytes()


@given(st.lists(st.integers(0, 2**64 - 1)).map(sorted))
def test_rising_numbers_come_back(numbers: list[int]) -> None:
    values = np.array(numbers, np.uint64)
    parts, about = pack(values)
    assert about.get("rising", False) == (len(numbers) > 1)
    np.testing.assert_array_equal(trip(parts, about), values)


@given(WEIGHTS, st.integers(1, 127), st.sampled_from([None, 0, 1]))
def test_rounding_moves_no_weight_by_more_than_half_a_step(values: Any, steps: int, axis: int | None) -> None:
    found = trip(*pack_rounded(values, Grid(steps, axis)))
    assert found.dtype == np.float32
    # The step, computed here by itself: the largest weight that shares a scale, over the number of steps.
    largest = np.broadcast_to(np.abs(values).max(axis=axis, keepdims=True), values.shape).astype(np.float64)
    assert (np.abs(found - values.astype(np.float64)) <= largest / (2 * steps) * (1 + 1e-5)).all()
    # Signs stay, and so does the largest weight.
    assert (found * values >= 0).all()
    np.testing.assert_array_equal(np.abs(found).max(axis=axis), np.abs(values).max(axis=axis))


@given(WEIGHTS, st.integers(1, 127), st.sampled_from([None, 0, 1]), st.integers(0, 9))
def test_sparse_matrices_hold_the_same(values: Any, steps: int, axis: int | None, rows: int) -> None:
    """Where most weights are 0 the sparse matrix has the others, bit by bit; elsewhere there is none."""
    values = np.vstack([np.zeros((rows, values.shape[1]), np.float32), values])
    parts, about = pack_rounded(values, Grid(steps, axis))
    found = unpack_sparse("a0", {f"a0{ending}": part for ending, part in parts.items()}, about)
    assert (found is not None) == ("places" in about)
    if found is not None:
        assert found.dtype == np.float32
        assert found.has_canonical_format
        np.testing.assert_array_equal(found.toarray(), trip(parts, about))
        assert found.nnz == np.count_nonzero(found.toarray())


@given(WEIGHTS, st.integers(1, 127), st.sampled_from([None, 0, 1]))
def test_rounding_again_changes_nothing(values: Any, steps: int, axis: int | None) -> None:
    grid = Grid(steps, axis)
    once = grid.rounded(values)
    np.testing.assert_array_equal(grid.rounded(once), once)
    np.testing.assert_array_equal(trip(*pack_rounded(values, grid)), once)


def test_products_are_as_close_as_the_steps_allow() -> None:
    """A product of a vector with a rounded matrix, against that with the matrix itself, in exact numbers."""
    random = np.random.default_rng(0)
    matrix, vector = random.normal(size=(60, 40)).astype(np.float32), random.normal(size=60).astype(np.float32)
    for steps in (7, 31, 127):
        rounded = Grid(steps, axis=0).rounded(matrix).astype(np.float64)
        error = np.abs(vector.astype(np.float64) @ rounded - vector.astype(np.float64) @ matrix.astype(np.float64))
        bound = np.abs(vector).sum(dtype=np.float64) * np.abs(matrix).max(axis=0) / (2 * steps)
        assert (error <= bound * (1 + 1e-5)).all()
        assert (error > 0).any()


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_weights_that_are_mostly_zero_are_held_by_their_places(axis: int | None) -> None:
    random = np.random.default_rng(1)
    values = np.where(random.random((300, 50)) < 0.03, random.normal(size=(300, 50)), 0).astype(np.float32)
    parts, about = pack_rounded(values, Grid(15, axis))
    assert about["places"] == np.count_nonzero(Grid(15, axis).rounded(values))
    np.testing.assert_array_equal(trip(parts, about), Grid(15, axis).rounded(values))
    assert sum(part.nbytes for part in parts.values()) < values.nbytes / 30
    nothing = np.zeros((3, 4), np.float32)
    np.testing.assert_array_equal(trip(*pack_rounded(nothing, Grid(15, axis))), nothing)


def test_vectors_beside_matrices_and_nothing_at_all_stay() -> None:
    for values in (np.linspace(-1, 1, 50, dtype=np.float32), np.zeros((0, 3), np.float32)):
        np.testing.assert_array_equal(trip(*pack_rounded(values, Grid(2, axis=0))), values)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_weights_that_are_not_finite_are_not_rounded_away(wrong: float) -> None:
    with pytest.raises(ParameterError, match="not finite"):
        pack_rounded(np.array([[1.0, wrong]], np.float32), Grid(7))


class TestDamage:
    """Through the reader, as in a file."""

    WEIGHTS = np.random.default_rng(2).normal(size=(20, 10)).astype(np.float32)
    SPARSE = np.where(np.arange(400).reshape(20, 20) % 7 == 0, 1.0, 0.0).astype(np.float32)

    def read(self, values: Any, grid: Grid | None, change: Any) -> Any:
        writer = Writer(compact=True)
        name = writer.array(values) if grid is None else writer.weights(values, grid)
        change(writer.arrays, writer.packed[name])
        return Reader("x.sap", writer.arrays, packed=writer.packed).array(name, values.dtype, values.ndim)

    def test_nothing_changed(self) -> None:
        found = self.read(self.WEIGHTS, Grid(31, axis=0), lambda parts, about: None)
        np.testing.assert_array_equal(found, Grid(31, axis=0).rounded(self.WEIGHTS))

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            (lambda parts, about: about.update(steps=3), "outside of its grid"),
            (lambda parts, about: about.update(steps=0), "its grid is none"),
            (lambda parts, about: about.update(steps=True), "its grid is none"),
            (lambda parts, about: about.update(steps=128), "its grid is none"),
            (lambda parts, about: about.update(axis=2), "its grid is none"),
            (lambda parts, about: about.update(axis=1), "its scales do not fit"),
            (lambda parts, about: about.update(shape=[20, 11]), "its scales do not fit"),
            (lambda parts, about: about.update(shape=[21, 10]), "another number of bytes"),
            (lambda parts, about: about.update(shape=[19, 10]), "another number of bytes"),
            (lambda parts, about: about.update(shape=[2**20, 10]), "promises more than it holds"),
            (lambda parts, about: about.update(shape=[-20, -10]), "its description is none"),
            (lambda parts, about: about.update(shape=20), "its description is none"),
            (lambda parts, about: about.update(type="object"), "its description is none"),
            (lambda parts, about: about.update(type=["float32"]), "its description is none"),
            (lambda parts, about: about.update(places=7), "another number of bytes|missing"),
            (lambda parts, about: parts.pop("a0.scales"), "'a0.scales' is missing"),
            (lambda parts, about: parts.update({"a0.scales": np.full(10, np.nan, np.float32)}), "scales do not fit"),
            (lambda parts, about: parts.update({"a0.scales": -np.ones(10, np.float32)}), "scales do not fit"),
            (lambda parts, about: parts.update({"a0.scales": np.ones(10)}), "of another type"),
            (lambda parts, about: parts.update(a0=parts["a0"][:-1]), "another number of bytes"),
            (lambda parts, about: parts.update(a0=np.append(parts["a0"], np.uint8(0))), "another number of bytes"),
            (lambda parts, about: parts.update(a0=np.zeros(30, np.uint8)), "Error -3"),
        ],
    )
    def test_weights(self, change: Any, reason: str) -> None:
        with pytest.raises(ModelFileError, match=rf"x\.sap: the file is damaged: the array 'a0' cannot.*({reason})"):
            self.read(self.WEIGHTS, Grid(31, axis=0), change)

    @pytest.mark.parametrize(
        ("places", "count"),
        [
            ([1, 0, 0], 3),
            ([-1, 2, 3], 3),
            ([100, 200, 100], 3),
            ([0, 2**62, 2**62], 3),
            ([0, 1], 3),
            ([0, 1, 2], 401),
            ([0, 1, 2], -1),
        ],
    )
    def test_places(self, places: list[int], count: int) -> None:
        def change(parts: dict[str, Any], about: dict[str, Any]) -> None:
            planes = np.array(places, np.int64).view(np.uint8).reshape(-1, 8).T.tobytes()
            parts["a0.places"] = np.frombuffer(zlib.compress(planes), np.uint8)
            parts["a0"] = np.frombuffer(zlib.compress(bytes(3)), np.uint8)
            about["places"] = count

        with pytest.raises(ModelFileError, match="the array 'a0' cannot be unpacked"):
            self.read(self.SPARSE, Grid(7), change)

    def test_a_small_file_that_stands_for_a_large_array(self) -> None:
        """Zeros are not in the file; whether memory has room for them is asked before they are made."""
        with pytest.raises(TooLargeError, match="on a larger machine"):
            self.read(self.SPARSE, Grid(7), lambda parts, about: about.update(shape=[2**47, 20]))

    def test_a_bomb(self) -> None:
        """A stream that goes on is left after as many bytes as the array has."""

        def change(parts: dict[str, Any], about: dict[str, Any]) -> None:
            parts["a0"] = np.frombuffer(zlib.compress(bytes(50_000_000)), np.uint8)

        with pytest.raises(ModelFileError, match="another number of bytes"):
            self.read(np.arange(10.0), None, change)

    def test_a_description_that_is_none(self) -> None:
        writer = Writer(compact=True)
        name = writer.array(np.arange(10.0))
        for about in (None, 5, [], "x", {}, {"type": "float64"}, {"shape": [10]}):
            with pytest.raises(ModelFileError, match="its description is none"):
                Reader("x.sap", writer.arrays, packed={name: about}).array(name, np.float64, 1)
