def begin_unstoppable() -> None:
    """
    Note that work begins which cannot be stopped, and may still go on when the process ends.
    """

def end_unstoppable() -> None:
    """Note that such work has ended."""
