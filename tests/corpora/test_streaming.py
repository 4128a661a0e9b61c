from __future__ import annotations

import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapwood.errors import BracketError, DataError
from sapwood.trees import iter_tree_blocks, iter_trees, read_trees

TREES = "( (S (NP-SBJ (NNP Zoë)) (VP (VBZ läuft))) )\n(FRAG (UH no))  (NP\n  (NN rain))\n(A(B c)(D e))\n"


@pytest.mark.parametrize("size", [1, 16, 17, 23, 40, 1000])
def test_blocks_hold_the_same_trees_as_reading_at_once(size: int) -> None:
    blocks = list(iter_tree_blocks(io.BytesIO(TREES.encode()), block_bytes=size, drop_function_tags=True))
    whole = read_trees(io.StringIO(TREES), drop_function_tags=True)
    assert [str(tree) for block in blocks for tree in block] == [str(tree) for tree in whole]
    assert len(whole) == 4


@given(
    st.lists(st.sampled_from(["(A b)", "(", ")", " ", "\n", "x", "(NP (NN é))", "()", "((A b))"]), max_size=12),
    st.integers(16, 40),
)
def test_faults_are_those_of_reading_at_once(parts: list[str], size: int) -> None:
    text = "".join(parts)

    def outcome(read: object) -> object:
        try:
            return [str(tree) for tree in read()]  # type: ignore[operator]
        except BracketError as fault:
            return fault.line, fault.column, fault.reason
        except DataError as error:
            return str(error)

    whole = outcome(lambda: read_trees(io.BytesIO(text.encode())))
    pieces = outcome(lambda: [t for b in iter_tree_blocks(io.BytesIO(text.encode()), block_bytes=size) for t in b])
    if isinstance(whole, tuple) and "never closed" in whole[2]:
        # Which bracket is blamed may differ in the count only.
        assert isinstance(pieces, tuple)
        assert pieces[:2] == whole[:2]
    else:
        assert pieces == whole


def test_a_byte_order_mark_inside_a_file_is_text_wherever_the_block_is_cut() -> None:
    text = b"\xef\xbb\xbf(A b)(A b)(A b)(A b)\xef\xbb\xbf(A b)"
    for size in range(16, 40):
        with pytest.raises(BracketError, match=r":1:21: expected '\('"):
            list(iter_tree_blocks(io.BytesIO(text), block_bytes=size))


def test_a_fault_deep_in_a_file_has_its_own_line_and_column() -> None:
    text = "(A (B c))\n" * 5000 + "(A b) (A ()\n"
    with pytest.raises(BracketError) as caught:
        for _ in iter_trees(io.StringIO(text)):
            pass
    assert (caught.value.line, caught.value.column) == (5001, 10)


def test_trees_before_a_fault_are_given_and_the_fault_is_not_silent() -> None:
    blocks = iter_tree_blocks(io.StringIO("(A b)\n" * 100 + "oops"), block_bytes=64)
    seen = [len(next(blocks)) for _ in range(9)]
    assert sum(seen) >= 80
    with pytest.raises(BracketError, match=":101:1: expected"):
        list(blocks)


@pytest.mark.parametrize("text", ["", "  \n \n"])
def test_a_file_without_trees_is_an_error(text: str) -> None:
    with pytest.raises(DataError, match="holds no tree"):
        list(iter_trees(io.StringIO(text)))


def test_truncated_gzip_and_wrong_encoding_are_named(tmp_path) -> None:
    path = tmp_path / "t.mrg.gz"
    path.write_bytes(gzip.compress(b"(A b)\n" * 10_000)[:-20])
    with pytest.raises(DataError, match=r"t\.mrg\.gz: the compressed file is not whole"):
        list(iter_trees(path))
    plain = tmp_path / "t.mrg"
    plain.write_bytes(b"(A caf\xe9)")
    with pytest.raises(BracketError, match=r"t\.mrg:1:7: a byte that is not valid UTF-8"):
        list(iter_trees(plain))
    assert next(iter(iter_trees(plain, encoding="latin-1"))).leaves() == ("café",)


def test_empty_brackets_are_traces() -> None:
    text = "(S (NP ( ))(VP ( )(VBZ rains)))"
    with pytest.raises(BracketError, match="empty bracket"):
        read_trees(io.StringIO(text))
    assert str(read_trees(io.StringIO(text), drop_traces=True)[0]) == "(S (VP (VBZ rains)))"
    with pytest.raises(BracketError, match="empty bracket"):
        read_trees(io.StringIO("()"), drop_traces=True)
