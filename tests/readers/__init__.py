"""What we export, read by programs that we did not write; see `__main__`."""
