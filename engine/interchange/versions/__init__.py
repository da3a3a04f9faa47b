"""A taxonomy that comes again: what its source said last time, what it says now, and what the person did between."""
