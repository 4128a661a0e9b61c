"""Where the time goes from text to roles: sentences per second with the English models, and the share of each step.

    python benchmarks/text.py [--sentences 25]

One thread, CPU time, sentence by sentence, after two that load what is loaded late. Sentences are the words of the Penn
sample without traces. Shares are of a second run under Python's profiler, which counts CPU time too.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import time

import sapwood as sw
import treebank
from measure import busy
from sapwood.errors import DataError

# Functions that stand for the steps, by the end of their module's path and their name.
STEPS = {
    "parsing": ("parse/base.py", "_answers"),
    "  of that, the network": ("parse/spans/network.py", "score"),
    "describing candidates": ("tasks/roles/feature_sets.py", "describe"),
    "scoring them": ("tasks/roles/linear.py", "log_probabilities"),
    "  of that, features to numbers": ("tasks/roles/encoding.py", "transform"),
    "choosing roles": ("tasks/roles/inference.py", "choose"),
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sentences", type=int, default=25)
    count = parser.parse_args().sentences
    try:
        labeler = sw.load("en/roles")
    except DataError as error:
        raise SystemExit(str(error)) from None
    trees = sw.TreeArray(treebank.load(count + 2).lines)
    texts = [" ".join(word for word in words if not word.startswith("*") and word != "0") for words in trees.leaves()]
    watch = busy()
    with sw.options(threads=1, progress=False):
        for text in texts[count:]:
            labeler.label(text)
        start = time.process_time()
        for text in texts[:count]:
            labeler.label(text)
        seconds = time.process_time() - start
        profile = cProfile.Profile(time.process_time)
        profile.enable()
        for text in texts[:count]:
            labeler.label(text)
        profile.disable()
    words = sum(len(text.split()) for text in texts[:count])
    print(f"{count} sentences, {words} words: {seconds:.2f} s, {words / seconds:,.0f} words/s")
    stats = pstats.Stats(profile)
    total = stats.total_tt  # type: ignore[attr-defined]
    found = {(path.split("sapwood/", 1)[-1], name): times[3] for (path, _, name), times in stats.stats.items()}  # type: ignore[attr-defined]
    for step, function in STEPS.items():
        print(f"{step:32} {found.get(function, 0.0) / total:4.0%}")
    if watch.note():
        print(watch.note())


if __name__ == "__main__":
    main()
