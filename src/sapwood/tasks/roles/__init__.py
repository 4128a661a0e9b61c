"""Semantic role labeling: who did what to whom, where and when, from parse trees.

One module per stage: ``predicates`` and ``views`` find predicates and look at a tree from one of them, ``pruning``
chooses candidate constituents, ``features`` describes them, ``classifier`` labels given arguments with kernels,
``inference`` chooses labels that fit together, ``labeler`` does all of it.
"""

from sapwood.lazy import public_names
from sapwood.tasks.roles.arguments import RoleArguments
from sapwood.tasks.roles.classifier import ROLE_KERNELS, RoleClassifier, role_kernel
from sapwood.tasks.roles.labeler import RoleLabeler
from sapwood.tasks.roles.predicates import find_predicates
from sapwood.tasks.roles.pruning import candidates

__all__ = [
    "ROLE_KERNELS",
    "RoleArguments",
    "RoleClassifier",
    "RoleLabeler",
    "candidates",
    "find_predicates",
    "role_kernel",
]

__dir__ = public_names(__name__)
