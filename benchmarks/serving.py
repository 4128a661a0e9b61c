"""What the explorer costs: the page in a browser, a sentence of 25 words with every demo model, and Ctrl-C.

    python benchmarks/serving.py [FOLDER]

Without a folder, the demo models are trained first, as ``sapwood serve`` does. The page is measured where there is a
Chromium.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from explorer.browser import Browser, find_chromium
from explorer.running import SENTENCE, Served, serve
from table import Row

ANSWER_MS, LOAD_MS, PAGE_KB, STOP_MS = 300.0, 1000.0, 500.0, 1000.0
_REPEAT = 15


def main(folder: str | None = None) -> list[Row]:
    if folder is None:
        from sapwood.explorer.starter import train_starters

        with tempfile.TemporaryDirectory() as place:
            start = time.perf_counter()
            train_starters(place)
            print(f"demo models trained in {time.perf_counter() - start:.1f} s", flush=True)
            return main(place)
    rows = []
    served = serve(folder)
    try:
        rows += [
            _row(f"25 words, {model}", _milliseconds(served, model), ANSWER_MS, "ms")
            for model in ("parser", "questions", "trees", "roles", "frames", "reranker")
        ]
        program = find_chromium()
        if program is None:
            print("there is no Chromium on this machine: the page is not measured", file=sys.stderr)
        else:
            rows += _page(program, served.url)
    finally:
        seconds = served.stop()
        served.process.communicate()
    rows.append(_row("Ctrl-C to the end", 1000 * seconds, STOP_MS, "ms"))
    return rows


def _row(name: str, found: float, target: float, unit: str) -> Row:
    print(f"{name:<32} {found:8.1f} {unit}", flush=True)
    return Row(name, f"{target:.0f} {unit}", found / target, target=1.0, at_most=True)


def _milliseconds(served: Served, model: str) -> float:
    """Return the median time of a request over HTTP, connection included, once the model is warm."""
    times = []
    for _ in range(_REPEAT):
        start = time.perf_counter()
        status, _ = served.post("/api/analyze", {"text": SENTENCE, "model": model})
        times.append(1000 * (time.perf_counter() - start))
        assert status == 200
    return statistics.median(times[2:])


def _page(program: str, url: str) -> list[Row]:
    browser = Browser(program)
    try:
        loads, shown = [], []
        for _ in range(5):
            page = browser.open(url)
            page.wait("document.documentElement.dataset.ready === 'yes'")
            page.wait("document.querySelector('#analyze-results').dataset.milliseconds")
            loads.append(page.run("performance.getEntriesByName('ready')[0].startTime"))
            size = sum(one["encodedDataLength"] for one in page.heard("Network.loadingFinished")) / 1000
            page.run("document.querySelector('#analyze-results').dataset.milliseconds = ''")
            page.fill("#analyze-text", SENTENCE)
            page.press("Enter", control=True)
            shown.append(float(page.wait("document.querySelector('#analyze-results').dataset.milliseconds")))
        # The first load starts the browser's own machinery; later ones are what a user sees.
        return [
            _row("page ready, first", loads[0], LOAD_MS, "ms"),
            _row("page ready, median", statistics.median(loads), LOAD_MS, "ms"),
            _row("page and first answer", size, PAGE_KB, "kB"),
            _row("25 words, questions, in the page", statistics.median(shown), ANSWER_MS, "ms"),
        ]
    finally:
        browser.close()


if __name__ == "__main__":
    from table import show

    print(show(main(*sys.argv[1:2])))
