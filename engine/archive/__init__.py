"""Project archives: a project with its photos, or reduced ones, in one zip file that is sent and comes back."""
