"""What words in context cost: kernels over occurrences beside the same kernels with WordNet, and one question.

The Gram matrices are those of ``semantic``: the first trees of the treebank, one thread, in turns, the best CPU time of
each. Vectors are those of MiniLM, 384 numbers in half precision; making them is not part of it, but it is part of the
time that a question takes, from its tree to its class, with a classifier learnt from 5,452 questions (or as many as
there are).
"""

from __future__ import annotations

import io

import numpy as np

import sapwood as sw
import treebank
from places import corpus
from sapwood import corpora
from sapwood.errors import DataError
from sapwood.kernels import SemanticSubsetTree, SmoothedPartialTree
from sapwood.tasks.questions import QuestionClassifier
from sapwood.words import Contextual, Encoder, WordNet
from semantic import TREES, compare
from table import Row, best

LARGEST_RATIO = 10.0
QUESTION_MS, VECTOR_BYTES = 25.0, 1000.0
QUESTIONS = corpus("trec-qc-trees")


def main() -> list[Row]:
    """Measure and return the rows."""
    try:
        encoder = Encoder("minilm", layers=(6,), pieces="mean")
        WordNet()("dog", "cat")
    except DataError as error:
        raise SystemExit(str(error)) from None
    X = sw.read_trees(io.StringIO("\n".join(treebank.load(TREES).lines)))
    X = X.with_vectors([states.astype(np.float16) for states in encoder.encode_batch(X.leaves())])
    with sw.options(threads=1, progress=False):
        rows = [
            row
            for name, kernel, some in (("SSTK", SemanticSubsetTree, X), ("SPTK", SmoothedPartialTree, X[: TREES // 8]))
            for row in compare(
                name, f"{name}, WordNet", kernel(WordNet()), {"in context": kernel(Contextual())}, some, LARGEST_RATIO
            )
        ]
        assert X.vectors is not None
        size = X.vectors.dtype.itemsize * X.vectors.shape[1]
        rows.append(Row("bytes per word", f"{VECTOR_BYTES:.0f}", size / VECTOR_BYTES, target=1.0, at_most=True))
        if QUESTIONS.exists():
            rows.append(_question(encoder))
    return rows


def _question(encoder: Encoder) -> Row:
    parts = {path.name: list(corpora.questions.read(path)) for path in sorted(QUESTIONS.glob("*.tsv.gz"))}
    known = max(parts.values(), key=len)
    asked = min(parts.values(), key=len)[:100]
    model = QuestionClassifier(encoder=encoder).fit(known, [one.coarse for one in known])
    model.predict(asked[:2])
    seconds = best(lambda: [model.predict([one]) for one in asked], repeat=3) / len(asked)
    return Row(
        "a question in context", f"{QUESTION_MS:.0f} ms", 1000 * seconds / QUESTION_MS, 1 / seconds, None, "questions",
        1.0, at_most=True, note=f"CPU time; learnt from {len(known):,} questions",
    )  # fmt: skip


if __name__ == "__main__":
    from table import show

    print(show(main()))
