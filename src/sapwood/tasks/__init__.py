"""One readable module per job, where the other rooms meet: data in, labels, roles, frames or rankings out.

A module holds what its job needs beyond the rooms below (which trees to show the kernel, which features, which
constraints) and an estimator that is trained, saved and asked like any other. Reproducing published tables belongs in
``experiments``.
"""
