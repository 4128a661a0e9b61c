"""Which module registers a class for model files: loading a file imports what it needs and nothing else."""

from __future__ import annotations

__all__ = ["HOMES", "WRAPPERS"]

HOMES = {
    "AttachmentRanker": "sapwood.tasks.attachment.ranker",
    "BeneparParser": "sapwood.parse.external.benepar",
    "BllipParser": "sapwood.parse.external.bllip",
    "CalibratedClassifierCV": "sapwood.learn.wrappers",
    "Checkpoint": "sapwood.resuming",
    "ConnectionPaths": "sapwood.parse.store",
    "CoreNLPParser": "sapwood.parse.external.corenlp",
    "Examples": "sapwood.trees.store",
    "FlatParser": "sapwood.parse.parameter",
    "FragmentMap": "sapwood.kernels.maps",
    "FrameIdentifier": "sapwood.tasks.frames.identifier",
    "FrameLabeler": "sapwood.tasks.frames.labeler",
    "FrameParser": "sapwood.tasks.frames.parser",
    "FrozenEstimator": "sapwood.learn.wrappers",
    "Grammar": "sapwood.trees.grammar_store",
    "HashedFragmentMap": "sapwood.kernels.hashing",
    "Kernel": "sapwood.kernels.store",
    "KernelRanker": "sapwood.learn.ranking",
    "KernelSVC": "sapwood.learn.svm",
    "KernelSVR": "sapwood.learn.svr",
    "LandmarkMap": "sapwood.kernels.landmarks",
    "LogLinear": "sapwood.learn.loglinear",
    "PCFGParser": "sapwood.parse.store",
    "PairClassifier": "sapwood.tasks.pairs.classifier",
    "PairFeatures": "sapwood.tasks.pairs.features",
    "ParseReranker": "sapwood.tasks.reranking",
    "Pipeline": "sapwood.learn.wrappers",
    "QuestionClassifier": "sapwood.tasks.questions.classifier",
    "RecursiveClassifier": "sapwood.learn.recursive",
    "RecursiveRanker": "sapwood.learn.recursive",
    "RecursiveRegressor": "sapwood.learn.recursive",
    "RoleClassifier": "sapwood.tasks.roles.classifier",
    "RoleLabeler": "sapwood.tasks.roles.labeler",
    "ShardClassifier": "sapwood.scale.linear",
    "SpanParser": "sapwood.parse.spans.store",
    "StanzaParser": "sapwood.parse.external.stanza",
    "SubtreeMap": "sapwood.kernels.maps",
    "TreeArray": "sapwood.trees.store",
    "TreeIndex": "sapwood.search.index",
    "VotedPerceptron": "sapwood.learn.perceptron",
    "WordSenses": "sapwood.words.senses",
    "WordSimilarity": "sapwood.words.store",
}


# What scikit-learn puts around estimators, and files hold too.
WRAPPERS = ("CalibratedClassifierCV", "FrozenEstimator", "Pipeline")
