"""Makes what people install: `PYTHONPATH=packaging python -m installer --help`. No part of the program itself."""
