"""Lets ``python -m sapwood.cli`` stand for the ``sapwood`` command."""

import sys

from sapwood.cli import main

if __name__ == "__main__":
    sys.exit(main())
