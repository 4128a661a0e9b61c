"""What pytest must not look into."""

from importlib.util import find_spec

# It cannot be imported without PyTorch, which is optional.
collect_ignore = [] if find_spec("torch") else ["src/sapwood/torch.py"]
