"""Merging another person's copy of the project: what comes in, and conflicts settled side by side."""
