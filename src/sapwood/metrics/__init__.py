"""The official scorers, exactly: brackets, labels, roles, frames, rankings, and whether a difference means anything."""

from sapwood.lazy import public_names
from sapwood.metrics.frames import FrameAnalysis, FrameScores, score_frames
from sapwood.metrics.labels import ClassScore, LabelScores, accuracy, micro_f1, score_labels
from sapwood.metrics.parseval import (
    COLLINS,
    ParsevalRules,
    ParsevalScores,
    ParsevalSummary,
    SentenceScore,
    mutual_f1,
    parseval,
    score_forest,
    score_pair,
)
from sapwood.metrics.ranking import RankingScores, pairwise_loss, rank_of_best, score_ranking, setwise_loss
from sapwood.metrics.roles import RoleScores, score_roles
from sapwood.metrics.significance import BootstrapResult, TestResult, chi_squared, mcnemar, paired_bootstrap

__all__ = [
    "COLLINS",
    "BootstrapResult",
    "ClassScore",
    "FrameAnalysis",
    "FrameScores",
    "LabelScores",
    "ParsevalRules",
    "ParsevalScores",
    "ParsevalSummary",
    "RankingScores",
    "RoleScores",
    "SentenceScore",
    "TestResult",
    "accuracy",
    "chi_squared",
    "mcnemar",
    "micro_f1",
    "mutual_f1",
    "paired_bootstrap",
    "pairwise_loss",
    "parseval",
    "rank_of_best",
    "score_forest",
    "score_frames",
    "score_labels",
    "score_pair",
    "score_ranking",
    "score_roles",
    "setwise_loss",
]

__dir__ = public_names(__name__)
