"""Build of installable packages: `PYTHONPATH=packaging python -m installer --help`."""
