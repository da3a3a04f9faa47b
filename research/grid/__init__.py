"""The paper's tables as a grid of trainings over splits and seeds, tuned on validation classes."""

VALIDATION_CLASSES = 10
"""Few-shot classes of training for validation, so that 10-way tasks can be drawn of them."""
