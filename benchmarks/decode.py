"""How fast roles are decoded, and against whom: run it by itself or through ``make bench``.

CPU seconds of one thread. HiGHS (`scipy.optimize.milp`) is called once per problem, model building included,
as every method's time includes whatever it builds.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

# NumPy's BLAS starts threads that spin; they would count as CPU time of whatever runs at that moment.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from measure import interleaved
from role_problems import near_ties, ordinary, prepare
from sapwood.decode import RoleProblem, decode_roles, decode_roles_batch

TEST_SET = 4_458  # as many as the paper's


def cpu(work: Callable[[], object], repeat: int = 1) -> float:
    """Return the least CPU time over some repetitions."""
    best = float("inf")
    for _ in range(repeat):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def verdict(ratio: float, least: float) -> str:
    return f"{ratio:9,.0f}×   (wanted: {least:g}×{'' if ratio >= least else ', MISSED'})"


def against_milp(name: str, problems: list[dict], wanted: dict[str, float]) -> None:
    count = len(problems)
    prepared = [prepare(problem) for problem in problems]
    reference: list = []
    decode_roles_batch(prepared[:2], method="ilp")  # imports and first-call costs are nobody's speed

    def ilp() -> None:
        reference[:] = decode_roles_batch(prepared, method="ilp")

    answers: dict[str, list] = {}

    def batch(method: str) -> Callable[[], None]:
        def run() -> None:
            answers[method] = decode_roles_batch(prepared, method=method, threads=1)

        return run

    def single() -> None:
        answers["single"] = [decode_roles(**problem) for problem in problems]

    def graph() -> None:
        answers["graph"] = [problem.to_factor_graph()[0].solve() for problem in prepared]

    works = {"ilp": ilp, "exact": batch("exact"), "single": single, "ad3-exact": batch("ad3-exact"), "graph": graph}
    measured = interleaved(works, repeat=3, warm=False)
    times = {name: one.median for name, one in measured.items()}
    milp = times.pop("ilp")
    print(f"\n{count} {name} problems; HiGHS (milp) takes {milp / count * 1e3:.2f} ms each")
    labels = {
        "exact": "decode_roles_batch, exact, prepared",
        "single": "decode_roles, exact, one call each",
        "ad3-exact": "AD3 with branch and bound, prepared",
        "graph": "the same as FactorGraph, nothing pruned",
    }
    optimum = np.array([result.value for result in reference])
    for key, seconds in times.items():
        worst = np.abs(np.array([result.value for result in answers[key]]) - optimum).max()
        proven = sum(result.status == "optimal" for result in answers[key])
        if key in wanted:
            print(
                f"  {labels[key]:<40}{seconds / count * 1e6:9.1f} µs each"
                f"{verdict(measured[key].over(measured['ilp']), wanted[key])}, proven {proven}/{count}, "
                f"off by at most {worst:.0e}"
            )


def methods(problems: list[dict]) -> None:
    prepared = [prepare(problem) for problem in problems]
    print(f"\n{len(prepared)} ordinary problems, prepared, every native method")
    print("  method        seconds  overlap  excludes  requires   total value    proven")
    for method, beam in (
        ("local", 1),
        ("beam", 2),
        ("beam", 100),
        ("ad3", 1),
        ("ad3-exact", 1),
        ("exact", 1),
    ):
        results: list = []
        seconds = cpu(
            lambda m=method, b=beam, r=results: r.extend(decode_roles_batch(prepared, method=m, beam=b, threads=1))
        )  # type: ignore[misc]
        broken = np.array([list(result.violations.values()) for result in results]).sum(axis=0)
        name = f"beam {beam}" if method == "beam" else method
        proven = sum(result.status == "optimal" for result in results)
        total = sum(result.value for result in results)
        print(f"  {name:<11}{seconds:10.4f}{broken[0]:9}{broken[1]:10}{broken[2]:10}{total:14.2f}{proven:10}")

    def whole() -> None:
        decode_roles_batch(
            [RoleProblem(p["scores"], p["spans"], p["excludes"], p["requires"]) for p in problems], threads=1
        )

    seconds = cpu(whole, 3)
    print(f"  all {len(problems)} through Python, RoleProblem included, exact: {seconds:.4f} s "
          f"(wanted: under 0.1 s{'' if seconds < 0.1 else ', MISSED'})")  # fmt: skip


def caching(problems: list[dict]) -> None:
    graphs = [prepare(problem).to_factor_graph()[0] for problem in problems]
    for graph in graphs:
        graph.solve(exact=False, max_iterations=1)  # prepares the native graph
    print(f"\nCaching unchanged subproblems: AD3's relaxation of {len(graphs)} problems, nothing pruned")
    times, counts = {}, {}
    for switch in (False, True):
        solutions: list = []
        times[switch] = cpu(lambda s=switch, out=solutions: out.extend(g.solve(exact=False, caching=s) for g in graphs))  # type: ignore[misc]
        counts[switch] = sum(solution.projections for solution in solutions)
        word = "on " if switch else "off"
        print(f"  caching {word}  {times[switch]:.3f} s, {counts[switch]:,} subproblems solved")
    saved_time, saved_work = 1 - times[True] / times[False], 1 - counts[True] / counts[False]
    print(f"  saved: {saved_time:.0%} of the time, {saved_work:.0%} of the subproblems")


def growth() -> None:
    print("\nCost over size, near ties (the hard kind), exact; DP: dynamic programming over roles seen")
    print("  roles  tokens  spans   ms each   DP states   handed to branch and bound   unproven in 5 s")
    rng = np.random.default_rng(3)
    for roles, tokens in ((5, 15), (10, 30), (20, 30), (20, 60), (40, 60), (40, 120), (80, 120), (160, 240)):
        problems = [prepare(near_ties(rng, roles, tokens)) for _ in range(5)]
        results: list = []
        seconds = cpu(lambda p=problems, r=results: r.extend(decode_roles_batch(p, threads=1, time_limit=5.0)))  # type: ignore[misc]
        states = int(np.mean([result.states for result in results]))
        handed = sum(result.nodes > 0 for result in results)
        unproven = sum(result.status != "optimal" for result in results)
        spans = int(np.mean([len(problem.spans) for problem in problems]))
        print(f"  {roles:5}{tokens:8}{spans:7}{seconds / 5 * 1e3:10.2f}{states:12,}{handed:20}/5{unproven:24}/5")


def main() -> None:
    rng = np.random.default_rng(2012)
    usual = [ordinary(rng) for _ in range(TEST_SET)]
    ties = [near_ties(rng) for _ in range(100)]
    against_milp("ordinary", usual[:400], {"exact": 500, "single": 100, "ad3-exact": 9, "graph": 1})
    against_milp("near-tie", ties, {"exact": 50, "single": 1, "ad3-exact": 1, "graph": 1})
    methods(usual)
    caching(usual[:150] + ties[:10])
    growth()


if __name__ == "__main__":
    main()
