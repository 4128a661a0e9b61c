from sapwood._core import explain as explain
from sapwood._core import kernels as kernels
from sapwood._core import trees as trees
