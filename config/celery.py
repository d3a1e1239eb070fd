"""The worker: `celery -A config.celery worker` runs the sweeps by a timer, and earlier when Redis wakes it."""

import os
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from celery import Celery
from celery.signals import celeryd_after_setup, setup_logging, worker_ready, worker_shutdown

from config.boot.checks import log_live_cards, refuse_bad_configuration
from config.logs.outputs import protect_standard_output
from payments import log_start
from payments.concurrency.garbage import freeze_loaded_objects
from payments.db.backend import allow_work
from payments.traces import lifetime as traces

protect_standard_output()
refuse_bad_configuration()
app = Celery("kaha")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@app.on_after_finalize.connect
def log_tasks(**_: object) -> None:
    """Connect the task log and the traces of sweeps, once the settings that they need are loaded."""
    from config import traced_sweeps
    from config.logs import task_log

    # The line of a run names its trace, which ends after it.
    task_log.connect()
    traced_sweeps.connect()


@app.on_after_finalize.connect
def add_sweep_timer(**_: object) -> None:
    """Add the timer, which needs the models, once they are loaded."""
    from config.worker import SweepTimer

    app.steps["worker"].add(SweepTimer)


@celeryd_after_setup.connect
def work(instance: Any, **_: object) -> None:
    from config.boot.session_check import refuse_unbounded_sessions
    from payments.domain import bulkheads

    log_start("worker")
    allow_work()
    refuse_unbounded_sessions()
    bulkheads.use(bulkheads.Bulkheads(instance.concurrency, bulkheads.PERCENT_OF_WORKER))
    # Before the first sweep, which does not wait until the worker is ready.
    traces.start("worker")


@worker_ready.connect
def be_ready(**_: object) -> None:
    freeze_loaded_objects()
    log_live_cards()


@worker_shutdown.connect
def end(**_: object) -> None:
    traces.stop()


@setup_logging.connect
def keep_our_logging(**_: object) -> None:
    """Keep the handlers of `config.logs.setup`: without a receiver Celery would replace them."""
