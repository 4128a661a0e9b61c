"""The official scorers, exactly: brackets, labels, roles, frames, rankings, and whether a difference means anything."""

from sapwood.lazy import public_names
from sapwood.metrics.counts import Counts
from sapwood.metrics.frames import FrameAnalysis, score_frames
from sapwood.metrics.labels import LabelScores, score_labels
from sapwood.metrics.parseval import mutual_f1, parseval, score_forest, score_tags
from sapwood.metrics.parseval_rules import COLLINS, ParsevalRules
from sapwood.metrics.parseval_scores import ParsevalScores, ParsevalSummary, SentenceScore
from sapwood.metrics.ranking import RankingScores, score_ranking
from sapwood.metrics.roles import RoleScores, score_roles
from sapwood.metrics.significance import BootstrapResult, TestResult, chi_squared, mcnemar, paired_bootstrap

__all__ = [
    "COLLINS",
    "BootstrapResult",
    "Counts",
    "FrameAnalysis",
    "LabelScores",
    "ParsevalRules",
    "ParsevalScores",
    "ParsevalSummary",
    "RankingScores",
    "RoleScores",
    "SentenceScore",
    "TestResult",
    "chi_squared",
    "mcnemar",
    "mutual_f1",
    "paired_bootstrap",
    "parseval",
    "score_forest",
    "score_frames",
    "score_labels",
    "score_ranking",
    "score_roles",
    "score_tags",
]

__dir__ = public_names(__name__)
