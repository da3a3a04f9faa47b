"""Protoleaf's engine: everything but the window. It works headless and imports no Qt."""

from engine.config import settle

__version__ = "0.1.0"

settle()  # before anything else: some libraries read these variables once, when they are loaded
