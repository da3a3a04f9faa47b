"""Exports read by other programs; see `__main__`."""
