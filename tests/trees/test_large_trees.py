"""Trees 100,000 nodes deep or wide through every public function, in a fresh process so that a crash is seen as one."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]

PREPARE = """
    import copy, io, pickle, sys, time
    import numpy as np
    import sapwood as sw
    from sapwood.kernels import PartialTree, SubsetTree, Subtree
    from sapwood.trees import *

    N = 100_000

    def deep():
        # A few hundred labels, so that the number of matching pairs stays moderate.
        labels = [f"l{i % 500}" for i in range(N)]
        return "".join(f"({label} " for label in labels) + "x" + ")" * N

    def wide():
        # Few of the children are internal, or the number of fragments would overflow.
        return "(top " + " ".join(f"(p{i % 500} w{i})" if i % 200 == 1 else f"w{i % 50}" for i in range(N)) + ")"

    def step(name, last=[time.process_time()]):
        print(f"{time.process_time() - last[0]:.1f}", name, flush=True)
        last[0] = time.process_time()

    text = {shape}()
    step("read")
    tree = sw.Tree.fromstring(text)
    X = sw.read_trees(io.StringIO(text + chr(10) + "(top (p1 w1) w2)"))
"""

STEPS = """
    step("walk")
    assert tree.size() > N and len(tree.leaves()) >= 1 and tree.height() >= 1
    assert sum(1 for _ in tree.postorder()) == sum(1 for _ in tree.preorder()) == tree.size()
    step("str")
    assert str(tree) == text
    step("repr")
    assert len(repr(tree)) < 400
    step("hash and equality")
    twin = sw.Tree.fromstring(text)
    other = sw.Tree.fromstring(text.replace("x)", "y)").replace(" w48 ", " w0 "))
    assert hash(twin) == hash(tree) and twin == tree and not twin != tree
    assert other != tree and len({twin, tree, other}) == 2
    step("copy and pickle")
    assert copy.copy(tree) == copy.deepcopy(tree) == tree
    assert pickle.loads(pickle.dumps(tree)) == tree
    step("array")
    assert list(X)[0] == tree
    assert len(sw.TreeArray([tree, twin, "(a b)"])) == 3
    assert sw.TreeArray([[tree, "a"], "b"])[0][0] == tree
    assert pickle.loads(pickle.dumps(X))[0] == tree
    assert X.to_strings()[0] == text
    assert X.node_count() > N and "trees" in repr(X) and X._repr_html_()
    assert concatenate([X[1:], X[:1], sw.TreeArray(["a"])])[1] == tree
    step("picture")
    assert "too large to draw" in tree._repr_svg_()
    step("files")
    sw.write_trees(X, "t.mrg.gz")
    options = dict(drop_traces=True, drop_function_tags=True, collapse_unary=True, unescape=True)
    assert sw.read_trees("t.mrg.gz", **options)[0] == tree
    sw.save(X, "x.sap")
    assert sw.load("x.sap")[0] == tree
    step("nltk")
    nt = tree.to_nltk()
    assert sw.Tree.from_nltk(nt) == tree
    assert len(sw.TreeArray([nt])) == 1
    # NLTK's trees are plain nested lists, which Python itself can free.
    del nt
    step("records")
    records = []
    stack = [(tree, None)]
    while stack:
        node, parent = stack.pop()
        records.append((len(records), parent, node.label))
        stack.extend((child, len(records) - 1) for child in reversed(node.children))
    assert sw.Tree.from_records(records) == tree
    step("transforms")
    assert relabel(tree, {}) == collapse_unary(tree) == tree
    assert delexicalize(tree).size() < tree.size()
    assert binarize(tree).leaves() == tree.leaves()
    step("frames of views")
    E = sw.Examples(tree=X, flat=np.zeros((2, 1)))
    assert E[[0]]["tree"][0] == tree
    for kernel in KERNELS:
        step(repr(kernel))
        K = kernel(X[COMPARED], X)
        assert K.shape == (len(X[COMPARED]), 2) and np.isfinite(K).all(), K
        kernel.expansion(X, np.ones((2, 1)))(X[COMPARED])
        assert np.isfinite(kernel.diag(X[COMPARED])).all()
    step("end")
    del tree, twin, other, X, E, records, stack
    step("done")
"""


def run(fresh: Run, shape: str, kernels: str, compared: str) -> None:
    code = PREPARE.replace("{shape}", shape) + STEPS.replace("KERNELS", kernels).replace("COMPARED", compared)
    done = fresh(code, timeout=500)
    assert done.returncode == 0, f"{done.stdout[-200:]}\n{done.stderr[-2000:]}"
    assert done.stdout.endswith("done\n")


PLAIN = ["Subtree()", "SubsetTree()", "SubsetTree(bag_of_words=True, max_depth=3)"]


@pytest.mark.slow
def test_deep(fresh: Run) -> None:
    kernels = [*PLAIN, "PartialTree()", "SubsetTree().normalized()", "PartialTree().normalized()"]
    run(fresh, "deep", f"[{', '.join(kernels)}]", ":")


@pytest.mark.slow
def test_wide(fresh: Run) -> None:
    run(fresh, "wide", f"[{', '.join([*PLAIN, 'Subtree().normalized()'])}]", ":")


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["PartialTree()", "PartialTree(max_subsequence=5)", "PartialTree(leaves=False)"])
def test_partial_trees_of_a_wide_node(fresh: Run, kernel: str) -> None:
    """Against a narrow one: two nodes of this width have ten billion pairs of children."""
    code = (
        PREPARE.replace("{shape}", "wide")
        + f"""
    K = {kernel}(X[1:], X)
    L = {kernel}(X, X[1:])
    assert np.isfinite(K).all() and (K > 0).all()
    np.testing.assert_allclose(K, L.T)
    print("done")
    """
    )
    done = fresh(code, timeout=500)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.slow
def test_overflow_is_an_error(fresh: Run) -> None:
    """A wide node with 100,000 internal children has 2^100,000 fragments."""
    done = fresh(
        """
        import sapwood as sw
        from sapwood.kernels import SubsetTree
        tree = sw.Tree("s", [sw.Tree("a", ["b"])] * 100_000)
        for kernel in (SubsetTree(1.0), SubsetTree(1.0).normalized()):
            try:
                print(kernel([tree]))
            except sw.errors.KernelError as error:
                print(error)
        """
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("example 0 with itself is not finite") == 2


@pytest.mark.slow
def test_deep_text_that_is_broken(fresh: Run) -> None:
    done = fresh(
        """
        import sapwood as sw
        for text, place in (("(a " * 100_000, (1, 1)), ("(a " * 100_000 + "b" + ")" * 100_001, (1, 400_002))):
            try:
                sw.Tree.fromstring(text)
            except sw.BracketError as error:
                assert (error.line, error.column) == place, str(error)
                assert len(str(error)) < 500
            else:
                raise AssertionError
        """
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_repeated_subtrees_cost_what_is_distinct(fresh: Run) -> None:
    """A tree of 2^200 nodes in 200 objects: whatever does not have to write it out is immediate."""
    done = fresh(
        """
        import copy, pickle
        import sapwood as sw
        from sapwood.kernels import PartialTree, SubsetTree, Subtree
        def build():
            tree = sw.Tree("x")
            for _ in range(200):
                tree = sw.Tree("a", [tree, tree])
            return tree
        tree = build()
        assert tree == build() and hash(tree) == hash(build()) and tree.height() == 200
        assert copy.deepcopy(tree) == tree
        X = sw.TreeArray([tree])
        assert X.node_count() == 2**201 - 1 or abs(X.node_count() / (2**201 - 1) - 1) < 1e-12
        assert X[0] == tree and pickle.loads(pickle.dumps(X))[0] == tree
        for kernel in (Subtree(), SubsetTree(0.001), PartialTree(0.1, 0.1)):
            kernel(X)
        sw.trees.map_leaves(X, str.lower)
        assert tree.size() == 2**201 - 1
        assert pickle.loads(pickle.dumps(tree)) == tree
        assert "too large to draw" in tree._repr_svg_()
        assert len(repr(tree)) < 330 and repr(tree).startswith("Tree.fromstring('(a (a (a ")
        for write in (lambda: str(tree), X.to_strings, lambda: sw.write_trees(X, "t.mrg")):
            try:
                write()
            except (sw.errors.TreeError, sw.errors.DataError) as error:
                assert "more than 100,000,000 nodes, too many to write" in str(error)
            else:
                raise AssertionError
        """,
        timeout=30,
    )
    assert done.returncode == 0, done.stderr
