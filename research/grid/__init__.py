"""The paper's tables as a grid of trainings: several splits, several seeds, every choice on validation classes."""

from typing import Final

VALIDATION_CLASSES: Final = 10
"""Training few-shot classes that are put aside, so that 10-way tasks can be drawn of them."""
