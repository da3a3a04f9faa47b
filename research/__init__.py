import os

from engine.config import CacheFolders

# Figures look the same whatever a person's matplotlibrc says; read when matplotlib is loaded.
os.environ.setdefault("MPLCONFIGDIR", str(CacheFolders.default().libraries / "matplotlib"))
