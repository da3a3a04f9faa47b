"""A copy of a project with its photos, from somebody else: unpacked into a folder, and opened."""
