"""Import a class list…: its classes, and what they would change, looked through before anything is written."""
