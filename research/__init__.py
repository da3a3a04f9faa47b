import os

from engine.config import CacheFolders

# Figures ignore the user's matplotlibrc; this variable is read when matplotlib is imported.
os.environ.setdefault("MPLCONFIGDIR", str(CacheFolders.default().libraries / "matplotlib"))
