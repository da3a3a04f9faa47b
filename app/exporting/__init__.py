"""Export…: labels, answers and the model leave for other programs."""
