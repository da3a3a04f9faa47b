"""Runs first in the packaged program: programs that it starts, such as the desktop's file manager, use their own libraries.

PyInstaller's starter puts the program's folder in front of all others for this process. The loader has read that by now;
what is left in the environment would only be inherited.
"""

import os

_NAME = "LD_LIBRARY_PATH"

if _NAME in os.environ:
    before = os.environ.pop(f"{_NAME}_ORIG", "")
    if before:
        os.environ[_NAME] = before
    else:
        del os.environ[_NAME]
