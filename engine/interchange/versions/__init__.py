"""Three-way comparison of a taxonomy: its version imported last, its new version, and the project between."""
