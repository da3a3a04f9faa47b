"""Export of labels, predictions and the model to other programs."""
