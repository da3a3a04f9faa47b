"""Import classes from a file…: its classes, and what they would change, looked through before anything is written."""
