"""The explorer: a small server and a page to look at models, kernels and decoding with.

``server`` speaks HTTP and hands requests to ``pool``, whose ``worker`` processes hold the models of one folder
(``model_folder``) and answer within a time limit. What the page can ask is in ``analyzing``, ``changing``,
``predicting``, ``comparing`` and ``decoding``: each takes the JSON of a request and returns the JSON of the answer. The
page itself is in ``page``: plain HTML, CSS and JavaScript that ask this server and nobody else.
"""

from __future__ import annotations

__all__ = ["Limits", "serve"]

from sapwood.explorer.limits import Limits
from sapwood.explorer.server import serve
