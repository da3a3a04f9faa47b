"""Merging of two copies of a project: matching, inter-annotator agreement, conflicts."""
