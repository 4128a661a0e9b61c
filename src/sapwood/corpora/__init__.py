"""Where data comes from: one reader per format."""

from sapwood.corpora.labelled import read_labelled

__all__ = ["read_labelled"]
