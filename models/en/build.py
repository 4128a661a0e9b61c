"""Trains the models of sapwood-en, writes them as compact files, and prints the table of the model card.

    make models CACHE=DIR

needs the corpora of ``sapwood data`` (EWT with PropBank, CRAFT, FrameNet 1.7, PropBank's rolesets), MiniLM and PyTorch.
Everything that takes long is kept in the cache and not done again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from sklearn.base import clone

import sapwood as sw
from sapwood.contents import count_words, texts
from sapwood.corpora import propbank_columns, rolesets
from sapwood.corpora.framenet import Lexicon
from sapwood.corpora.framenet.fulltext import FrameTarget
from sapwood.experiments.frames import analyses
from sapwood.experiments.parsing.models import Models, Recipe, fold_of
from sapwood.experiments.parsing.treebanks import ARTICLES, WEB, part, single_trees
from sapwood.experiments.setting import Setting
from sapwood.metrics import COLLINS, FrameAnalysis, parseval, score_frames, score_roles, score_tags
from sapwood.packages import forget_packages
from sapwood.parse import SpanParser
from sapwood.tasks.frames import (
    FrameCorpus,
    FrameIdentifier,
    FrameInput,
    FrameLabeler,
    FrameParser,
    ParsedSentence,
    evaluate_arguments,
    load_framenet,
)
from sapwood.tasks.frames.evaluation import core_of
from sapwood.tasks.roles import RoleLabeler
from sapwood.tasks.roles.senses import PredicateSenses
from sapwood.trees import Proposition, RoleSentence
from sapwood.words.senses import WordSenses

HOME = Path(__file__).parent / "sapwood_en"
# Roles and frames are judged on the trees of both parsers.
MODELS = ("parser", "parser-minilm", "roles", "frames")
FOLDS = 2
RECIPES = {
    "en-small": Recipe((WEB, ARTICLES), False, 12),
    "en-minilm": Recipe((WEB, ARTICLES), True, 12),
    **{f"en-fold-{fold}": Recipe((WEB,), False, 10, fold=(fold, FOLDS)) for fold in range(FOLDS)},
}
TREEBANKS = "English Web Treebank (12,515 sentences) and CRAFT (all articles but those whose number ends in 0 or 5)"
MARKS = "<!-- models -->", "<!-- /models -->"
# Places of text that is not from sentences: descriptions of PropBank, and the entries of FrameNet's lexicon.
QUOTED = {"meanings", "lexicon", "units"}
OFFSETS = (0.0, -0.2, -0.4, -0.6, -0.8, -1.0)
# Sentences that evalb would leave out, because the parser calls other words punctuation, count too.
RULES = replace(COLLINS, max_errors=10**9)


class Build:
    """The models in the order in which they are made.

    Names such as ``en/parser`` stand for what is built here: the folder of this script, which holds the package, is
    searched first.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.parsers = Models(setting, RECIPES)

    def kept(self, name: str, make: Callable[[], Any]) -> Any:
        """Return what was made before, or make it now."""
        path = self.setting.cached(f"{name}.sap")
        if path is not None and path.exists():
            return sw.load(path)
        begun = time.process_time()
        made = make()
        print(f"{name}: {(time.process_time() - begun) / 60:.1f} minutes of CPU", flush=True)
        if path is not None:
            sw.save(made, path)
        return made

    def ship(
        self, name: str, model: Any, about: str, trained_on: str, score: Callable[[Any], dict[str, float]]
    ) -> None:
        """Write a model as a compact file, and compare what is in it with what was trained."""
        path = HOME / f"{name}.sap"
        before = score(model)
        sw.save(model, path, compact=True)
        after = score(self.ready(sw.load(path)))
        for key, value in after.items():
            print(f"{name}: {key} {value:.2f} (before rounding {before[key]:.2f})", flush=True)
        found = sorted(
            (count_words(text), place, text) for place, text in texts(path) if not QUOTED & {*place.split(".")}
        )
        if found[-1][0] > 3:
            raise SystemExit(f"{path} holds text of {found[-1][0]} words at {found[-1][1]}: {found[-1][2]!r}")
        record(name, {
            "file": path.name,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            "about": about,
            "trained_on": trained_on,
            "figures": {key: round(value, 2) for key, value in after.items()},
            "unrounded": {key: round(value, 2) for key, value in before.items()},
        })  # fmt: skip

    def ready(self, model: Any) -> Any:
        """Give a parser the encoder that it was trained with."""
        if isinstance(model, SpanParser) and model._spec is not None:
            model.encoder = self.parsers.encoder
        return model

    # --- parsers

    def parse(self) -> None:
        """Train and write the parser that needs nothing else."""
        about = "constituents and tags, no encoder"
        self.ship("parser", self.parsers["en-small"], about, TREEBANKS, self.score_parser)

    def parse_in_context(self) -> None:
        """Train and write the parser on the states of MiniLM."""
        about = "constituents and tags from the states of MiniLM, which must be installed"
        self.ship("parser-minilm", self.parsers["en-minilm"], about, TREEBANKS, self.score_parser)

    @cached_property
    def shipped(self) -> tuple[SpanParser, SpanParser]:
        """The parsers as they are in the package: the one that needs nothing, and the one on the states of MiniLM."""
        small, in_context = (self.ready(sw.load(HOME / f"{name}.sap")) for name in ("parser", "parser-minilm"))
        return small, in_context

    def score_parser(self, parser: SpanParser) -> dict[str, float]:
        """Return F1 and tags on the test parts."""
        found = {}
        for name, treebank in (("EWT test", WEB), ("CRAFT test", ARTICLES)):
            gold = single_trees(part(self.setting, treebank, "test"))
            trees = single_trees(parser.parse_batch([list(one.leaves()) for one in gold]))
            rules = replace(RULES, punctuation="gold")
            found[f"{name}, brackets F1"] = 100 * parseval(gold, trees, rules=rules).overall.f1
            found[f"{name}, tags"] = 100 * score_tags(gold, trees).accuracy
        return found

    # --- roles

    def label(self) -> None:
        """Train and write the role labeler."""
        labeler = self.kept("en-roles", self.train_roles)
        place = self.setting.find("propbank-frames")
        if place is None:
            raise SystemExit("PropBank's rolesets are missing: put rolesets.jsonl.xz into a folder of SAPWOOD_DATA")
        labeler.lexicon_.describe(rolesets.read(place))
        # PropBank marks auxiliaries, too, mostly without arguments: true, and in the way of whoever reads.
        labeler.lexicon_.auxiliaries = False
        # Of the gold trees alone: those of a parser beside them add 0.1 point on development data.
        labeler.senses_ = PredicateSenses.learn(self.sentences("train"))
        labeler.parser = "en/parser"
        self.ship(
            "roles", labeler, "predicates, verbs and nouns, and their roles by PropBank",
            "English Web Treebank with PropBank (12,515 sentences), on its trees and on those of our parsers; role "
            "descriptions from PropBank's frame files 3.4",
            lambda one: on_both(*(self.score_labeler(one, parser) for parser in self.shipped)),
        )  # fmt: skip

    def sentences(self, name: str) -> list[RoleSentence]:
        """Return the sentences of a part of the web treebank, with all predicates."""
        place = self.setting.find("ewt-propbank")
        return list(propbank_columns.read(Path(str(place)).with_name(f"{name}.conll.gz")))

    def train_roles(self) -> RoleLabeler:
        """Train on gold trees and on the trees of parsers that have not seen the sentences."""
        train, dev = self.sentences("train"), self.sentences("dev")
        parsed = []
        for fold in range(FOLDS):
            some = train[fold_of(len(train), fold, FOLDS)]
            trees = self.parsers.parse(f"en-fold-{fold}", [list(one.words) for one in some], "best")
            parsed += [replace(one, tree=tree) for one, tree in zip(some, trees, strict=True)]
        trees = self.parsers.parse("en-small", [list(one.words) for one in dev], "best")
        held = [replace(one, tree=tree) for one, tree in zip(dev, trees, strict=True)]
        labeler = RoleLabeler(nouns=True, pruning="wide").fit([*train, *parsed], calibration=held)

        def f1(offset: float) -> float:
            asked = copy(labeler).set_params(null_offset=offset)
            return score_roles(dev, asked.predict(held, given_predicates=True)).overall.f1

        labeler.null_offset = max(OFFSETS, key=f1)
        return labeler

    def score_labeler(self, labeler: RoleLabeler, parser: SpanParser) -> dict[str, float]:
        """Return F1 on the test part, from words alone, and how many senses are right."""
        gold = self.sentences("test")
        trees = copy(parser).set_params(tree="best").parse_batch([list(one.words) for one in gold])
        given = [replace(one, tree=tree) for one, tree in zip(gold, single_trees(trees), strict=True)]
        found = {}
        for name, known in (("predicates given", True), ("predicates found", False)):
            said = labeler.predict(given, given_predicates=known)
            found[f"EWT test, from words, {name}, F1"] = 100 * score_roles(gold, said).overall.f1
            if known:
                pairs = [pair for one, other in zip(gold, said, strict=True) for pair in propositions(one, other)]
                right = sum(a.roleset == b.roleset for a, b in pairs) / len(pairs)
                found["EWT test, from words, predicates given, senses"] = 100 * right
        return found

    # --- frames

    @cached_property
    def framenet(self) -> FrameCorpus:
        """FrameNet 1.7 with the trees of the parser that needs nothing."""
        corpus = load_framenet(
            str(self.setting.find("framenet-1.7")), self.shipped[0],
            Path(str(self.setting.find("framenet-parses"))).with_name("splits.json"), senses=WordSenses(),
        )  # fmt: skip
        # Nobody has looked at sentences without any target: half of the test texts.
        return replace(corpus, dev=marked(corpus.dev), test=marked(corpus.test))

    def find_frames(self) -> None:
        """Train and write the frame parser."""
        parser = self.kept("en-frames", self.train_frames)
        parser.parser = "en/parser"
        # The same sentences with the trees of the other parser.
        answers = self.shipped[1].parse_sentences([one.parse.words for one in self.framenet.test])
        others = [
            replace(one, parse=ParsedSentence.from_tree(answer.tree, offsets=one.parse.offsets, senses=WordSenses()))
            for one, answer in zip(self.framenet.test, answers, strict=True)
        ]
        self.ship(
            "frames", parser, "frames of FrameNet 1.7, and what fills their roles",
            "the annotated texts of FrameNet 1.7, less its test texts, on trees of our parser; supersenses of WordNet",
            lambda one: on_both(*(self.score_frames(one, test) for test in (self.framenet.test, others))),
        )  # fmt: skip

    def train_frames(self) -> FrameParser:
        """Train on the training and the development texts, after the latter have said how readily frames are found."""
        corpus = self.framenet
        identifier = FrameIdentifier(bits=22)
        one = clone(identifier).fit(thorough(corpus.train), lexicon=corpus.lexicon)

        def f1(offset: float) -> float:
            said = one.set_params(none_offset=offset).predict([each.parse for each in corpus.dev])
            return score_found(corpus.dev, said, corpus.lexicon)

        identifier.none_offset = max(OFFSETS, key=f1)
        print(f"en-frames: none_offset {identifier.none_offset}, {f1(identifier.none_offset):.2f} on dev", flush=True)
        everything = [*corpus.train, *corpus.dev]
        labeler = FrameLabeler(alpha=3.0, epochs=5, bits=22, null_offset=-0.9)
        parser = FrameParser(labeler=labeler, identifier=identifier).fit(everything, lexicon=corpus.lexicon)
        parser.identifier_.fit(thorough(everything), lexicon=corpus.lexicon)
        parser.labeler_.senses_ = WordSenses()
        return parser

    def score_frames(self, parser: FrameParser, test: Sequence[FrameInput]) -> dict[str, float]:
        """Return F1 on the test texts: of arguments, of frames, and of both."""
        lexicon = self.framenet.lexicon
        known = [replace(one, find=False) for one in test]
        given = evaluate_arguments(known, parser.predict(known), lexicon, unannotated=False)
        found = parser.identifier_.predict([one.parse for one in test])
        free = [replace(one, targets=tuple(some)) for one, some in zip(known, found, strict=True)]
        sides = analyses(test, None), analyses(free, parser.labeler_.predict(free))
        return {
            "FrameNet 1.7 test, arguments, frames given, F1": 100 * given.f1,
            "FrameNet 1.7 test, frames found, F1": score_found(test, found, lexicon),
            "FrameNet 1.7 test, frames and arguments, F1": 100
            * score_frames(*sides, core_of(lexicon), frame_points=1.0).f1,
        }


def on_both(small: dict[str, float], in_context: dict[str, float]) -> dict[str, float]:
    """Put figures on the trees of the two parsers together."""
    return {**small, **{f"{key}, with parser-minilm": value for key, value in in_context.items()}}


def marked(data: Sequence[FrameInput]) -> list[FrameInput]:
    """Return the sentences in which there is a target."""
    return [one for one in data if one.targets]


def thorough(data: Sequence[FrameInput]) -> list[FrameInput]:
    """Return the sentences of the texts that were annotated thoroughly.

    In the others, one word in 20 and less evokes a frame, most often a single one of a sentence: what evokes none
    cannot be learnt there. The thorough ones have one in seven and more.
    """
    words: Counter[str] = Counter()
    targets: Counter[str] = Counter()
    for one in marked(data):
        words[text_of(one)] += len(one.parse)
        targets[text_of(one)] += len(one.targets)
    return [one for one in marked(data) if targets[text_of(one)] >= 0.1 * words[text_of(one)]]


def text_of(one: FrameInput) -> str:
    """Return the text that a sentence is from."""
    return one.name.partition(",")[0]


def score_found(data: Sequence[FrameInput], said: Sequence[Sequence[FrameTarget]], lexicon: Lexicon) -> float:
    """Return the F1 of frames that were found."""
    sides = (
        {(n, target.spans): FrameAnalysis(target.frame) for n, targets in enumerate(some) for target in targets}
        for some in ([one.targets for one in data], said)
    )
    return 100 * score_frames(*sides, core_of(lexicon), frame_points=1.0).f1


def propositions(gold: RoleSentence, said: RoleSentence) -> Iterator[tuple[Proposition, Proposition]]:
    """Yield what is said of each predicate beside what is true of it."""
    found = {one.predicate: one for one in said.propositions}
    return ((one, found[one.predicate]) for one in gold.propositions)


def record(name: str, about: dict[str, Any]) -> None:
    """Say what a model is in ``models.json``, at once: the next models name the parser by what stands there."""
    place = HOME / "models.json"
    known = json.loads(place.read_text())["models"] if place.exists() else {}
    known[name] = about
    models = {name: known[name] for name in MODELS if name in known}
    document = {"version": "0.1.0", "sapwood": "0.1", "language": "English", "models": models}
    place.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    forget_packages()
    write_card(models)


def write_card(models: dict[str, dict[str, Any]]) -> None:
    """Put the models with their figures into the card, between its two marks."""
    rows = ["| model | what it finds | trained on | MB | figures |", "|---|---|---|---|---|"]
    for name, one in models.items():
        size = (HOME / one["file"]).stat().st_size / 1e6
        figures = "; ".join(f"{key} {value:.2f} ({one['unrounded'][key]:.2f})" for key, value in one["figures"].items())
        rows.append(f"| `en/{name}` | {one['about']} | {one['trained_on']} | {size:.1f} | {figures} |")
    card = HOME.parent / "README.md"
    before, _, rest = card.read_text().partition(MARKS[0])
    card.write_text("\n".join([before + MARKS[0], *rows, MARKS[1] + rest.partition(MARKS[1])[2]]))


def main() -> None:
    """Build what is asked for, and write ``models.json``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="MODEL", help="those to build, such as roles (default: all)")
    parser.add_argument("--cache", type=Path, required=True, help="folder that keeps what was trained")
    options = parser.parse_args()
    build = Build(Setting(cache=options.cache))
    makers = dict(zip(MODELS, (build.parse, build.parse_in_context, build.label, build.find_frames), strict=True))
    if unknown := set(options.parts) - set(makers):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(makers)}")
    with sw.options(threads=1):
        for name, make in makers.items():
            if not options.parts or name in options.parts:
                make()
    sizes = {path.name: path.stat().st_size for path in sorted(HOME.glob("*.sap"))}
    print(
        *(f"{name} {size / 1e6:.1f} MB" for name, size in sizes.items()), f"in all {sum(sizes.values()) / 1e6:.1f} MB"
    )


if __name__ == "__main__":
    main()
