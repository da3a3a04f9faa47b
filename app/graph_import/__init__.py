"""Import of class lists, with a preview of the changes."""
