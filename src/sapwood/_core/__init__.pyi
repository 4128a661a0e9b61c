from sapwood._core import attach as attach
from sapwood._core import decode as decode
from sapwood._core import explain as explain
from sapwood._core import grammar as grammar
from sapwood._core import kernels as kernels
from sapwood._core import recursive as recursive
from sapwood._core import semantic as semantic
from sapwood._core import trees as trees
