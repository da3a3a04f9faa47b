"""Merging of another copy of the project, with side-by-side settling of conflicts."""
