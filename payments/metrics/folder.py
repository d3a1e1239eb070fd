"""The folder in which the processes of a web server keep their counts, so that one of them answers for all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

# Prometheus's client reads it when it is imported, and counts in files of this folder.
VARIABLE = "PROMETHEUS_MULTIPROC_DIR"


@contextmanager
def folder_for(arguments: list[str]) -> Iterator[None]:
    """Have a temporary folder for the counts while the `manage.py` command of a web server runs, if it has metrics."""
    if arguments[:1] != ["web"] or not (os.environ.get("METRICS_ADDRESS") or os.environ.get("METRICS_ADDRESS_FILE")):
        yield
        return
    with TemporaryDirectory(prefix="kaha-metrics-") as folder:
        os.environ[VARIABLE] = folder
        yield
