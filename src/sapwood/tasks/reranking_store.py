"""How rerankers are written to model files and read back."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from sapwood.metrics.parseval import ParsevalRules
from sapwood.parse.parameter_store import read_parser, write_parser
from sapwood.registry import Reader, Writer, register
from sapwood.tasks.reranking import ParseReranker


def _write(model: ParseReranker, writer: Writer) -> dict[str, Any]:
    check_is_fitted(model, "ranker_")
    rules = asdict(model.rules)
    # JSON knows lists only.
    return {
        "rules": {name: sorted(value) if isinstance(value, frozenset) else value for name, value in rules.items()},
        "ranker": writer.part(model.ranker_),
        "consensus": None if model.consensus is None else [float(model.consensus), float(model.spread_)],
        "parser": write_parser(model.parser, writer),
        "n_parses": int(model.n_parses),
    }


def _read(data: dict[str, Any], reader: Reader) -> ParseReranker:
    ranker = reader.part(data["ranker"])
    if not hasattr(ranker, "decision_function"):
        raise reader.fail("it holds no ranker")
    rules = dict(data["rules"])
    for name in ("delete_labels", "delete_for_length"):
        rules[name] = frozenset(rules[name])
    rules["equal_labels"] = tuple((str(first), str(second)) for first, second in rules["equal_labels"])
    consensus, spread = (None, 1.0) if data.get("consensus") is None else map(float, data["consensus"])
    if consensus is not None and not (0 < consensus < float("inf") and 0 < spread < float("inf")):
        raise reader.fail("the consensus must be above 0")
    # Files of older versions hold no parser.
    model = ParseReranker(
        clone(ranker),
        rules=ParsevalRules(**rules),
        consensus=consensus,
        parser=read_parser(data.get("parser"), reader),
        n_parses=int(data.get("n_parses", 30)),
    )
    model.ranker_, model.spread_ = ranker, spread
    return model


register("ParseReranker", ParseReranker, _write, _read)
