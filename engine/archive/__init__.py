"""Project archives: a project with its photos, or reduced ones, in one ZIP file."""
