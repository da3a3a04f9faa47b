"""Import labels…: what others labelled comes back, looked through before anything is changed."""
