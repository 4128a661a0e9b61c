"""Parsers of others behind the same protocol: BLLIP, benepar, Stanza and a CoreNLP server.

Their packages are imported, models loaded and servers asked when the first sentence is parsed. A parser object holds
names alone (a folder, a model, an address), so that it can be copied, sent to other processes and saved; what is loaded
is kept once per process, beside it. A package, model or server that is missing is a ``ParameterError``, never a flat
tree.
"""

from __future__ import annotations
