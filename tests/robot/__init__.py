"""A simulated user at a real X display: end-to-end tests with mouse and keyboard.

Results are checked on the screen and in the project file.
"""
