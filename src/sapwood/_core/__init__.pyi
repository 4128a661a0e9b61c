"""
Sapwood's native core. Private: the Python packages check arguments before they call it.
"""

from sapwood._core import (
    attach as attach,
    columns as columns,
    decode as decode,
    edit as edit,
    exits as exits,
    explain as explain,
    grammar as grammar,
    kernels as kernels,
    loglinear as loglinear,
    parse as parse,
    places as places,
    preferences as preferences,
    recursive as recursive,
    search as search,
    semantic as semantic,
    smo as smo,
    spans as spans,
    trees as trees
)
