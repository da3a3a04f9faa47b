"""Runs first in the packaged program: what it starts, such as the desktop's file manager, uses libraries of its own.

PyInstaller's starter puts the program's folder in front of all others for this process. The loader has read that
already; what is left in the environment would only be inherited. A worker is this program again: it has to
start like the first one, not to rely on what it inherits.
"""

import os

_NAME = "LD_LIBRARY_PATH"

os.environ["PYINSTALLER_RESET_ENVIRONMENT"] = "1"
if _NAME in os.environ:
    before = os.environ.pop(f"{_NAME}_ORIG", "")
    if before:
        os.environ[_NAME] = before
    else:
        del os.environ[_NAME]
