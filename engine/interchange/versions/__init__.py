"""Three-way merge of a taxonomy: its last version, its new version, and the project."""
