"""The worker: `celery -A config.celery worker -B` runs every task and the beat that wakes the sweeps."""

import gc
import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from celery import Celery
from celery.signals import setup_logging, worker_ready

from config.checks import refuse_bad_configuration, tell_of_live_cards

refuse_bad_configuration()
app = Celery("kaha")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
GC_THRESHOLD = 10_000


@app.on_after_finalize.connect
def log_tasks(**_: object) -> None:
    """Only now are the settings there that the log line's helpers need."""
    from config import task_log

    task_log.connect()


@worker_ready.connect
def spare_what_stays(**_: object) -> None:
    """What is loaded by now stays; walking it time and again took the collector a fifth of a busy worker's time.

    And what is made later mostly goes without the collector, so that it need not look for it as often.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD)


@worker_ready.connect
def tell_what_is_on(**_: object) -> None:
    tell_of_live_cards()


@setup_logging.connect
def keep_our_logging(**_: object) -> None:
    """Celery would put its own handlers in place of the JSON lines that `config.logging` set up."""
