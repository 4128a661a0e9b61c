"""Where things are: the checkout, and the folder beside it that may hold corpora and reference values."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"
DATA = SHARED / "data"
TREEBANK = DATA / "nltk-zips" / "treebank.zip"
