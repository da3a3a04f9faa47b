"""Importing reports without drawing."""

import pkgutil
import subprocess
import sys

from research import reports


def test_drawing_libraries_wait_for_the_first_figure() -> None:
    """Importing all reports loads neither matplotlib nor scikit-learn nor scipy nor torch."""
    modules = [
        module.name for module in pkgutil.iter_modules(reports.__path__, reports.__name__ + ".")
    ]
    program = f"import sys, {', '.join(modules)}\nprint(' '.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert len(modules) > 5
    assert loaded.isdisjoint({"matplotlib", "sklearn", "scipy", "torch"})
