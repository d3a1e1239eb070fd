"""The Celery worker of the quickstart: `python -m payments.quickstart.worker READY_FILE`.

It loads the tasks while the database still starts, and works when its standard input is closed.
"""

import os
import sys
from pathlib import Path

from celery.app.utils import find_app
from celery.signals import worker_ready

OPTIONS = ["--pool=threads", "--concurrency=4", "--without-gossip", "--without-mingle", "--without-heartbeat"]


def main(ready_file: str) -> None:
    """Work until SIGTERM; the ready file appears when the worker listens."""
    # The preparation has checked everything, and the worker needs no URLs.
    os.environ["CELERY_SKIP_CHECKS"] = "1"
    app = find_app("config.celery")
    app.loader.import_default_modules()
    sys.stdin.read()
    worker_ready.connect(lambda **_: Path(ready_file).touch(), weak=False)
    app.worker_main(["worker", *OPTIONS])


if __name__ == "__main__":
    main(*sys.argv[1:])
