"""The tests; before NumPy and torch are imported, also in child processes, each gets one thread."""

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(
        _variable, "1"
    )  # arrays of tests are small; threads that wait for each other spin
