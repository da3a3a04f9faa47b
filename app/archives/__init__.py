"""Project archives: a copy of a project with its photos is unpacked into a folder and opened."""
