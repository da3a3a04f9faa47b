"""Size limits of a category graph, enforced on edits; files that exceed them still open."""

LONGEST_NAME = 255
"""Characters of a class name: as many as file systems take for a folder name."""

LONGEST_SOURCE_ID = 1_000
"""Characters of a source id: vocabularies on the web use whole addresses."""

MOST_SYNONYMS = 1_000
"""Synonyms of one class; the most in WordNet are 27, and species rarely have hundreds."""

LONGEST_NOTE = 10_000
"""Characters of a note on a class: some pages, a field guide's whole entry."""

DEEPEST_LEVEL = 500
"""Level of the deepest class, a root having 0; no taxonomy that we know comes near."""

MOST_CLASSES = 1_000_000
"""Classes of one graph: twelve times WordNet's. Chosen: far beyond what a model tells apart."""

MOST_PATHS = 64  # paths of one class that are listed: a dense graph has astronomically many

MOST_STEPS = 2_000
"""Classes in all listed paths of one class together; the first path is always whole."""
