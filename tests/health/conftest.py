import pytest

from payments import clock
from payments.models import MoneyCheck, WorkerProcess
from tests.sweeps.factories import a_worker, all_swept


@pytest.fixture
def service(db: None) -> WorkerProcess:
    """Have everything in order: a worker has just run every sweep, and the money was checked. Return the worker."""
    worker = a_worker()
    all_swept(worker)
    MoneyCheck.objects.create(whole=True, finished_at=clock.now(), invariants=["a"])
    return worker
