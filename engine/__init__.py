"""Protoleaf's engine: everything but the window. It works headless and imports no Qt."""

__version__ = "0.1.0"
