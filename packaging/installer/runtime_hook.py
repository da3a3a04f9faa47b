"""PyInstaller runtime hook: subprocesses, such as file managers, use the system's libraries.

PyInstaller's bootloader prepends the program's folder to the library path. The loader has read it
by now, so it would only be inherited. A worker is this program again and has to set up its own
environment like the first process.
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
