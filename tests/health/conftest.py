import sysconfig

import pytest

from payments import clock
from payments.models import MoneyCheck, WorkerProcess
from tests.sweeps.factories import a_worker, all_swept


@pytest.fixture
def service(db: None, monkeypatch: pytest.MonkeyPatch) -> WorkerProcess:
    """Have everything in order: a worker has just run every sweep, the money was checked, Python is optimized.

    Return the worker.
    """
    monkeypatch.setitem(sysconfig.get_config_vars(), "CONFIG_ARGS", "'--enable-optimizations' '--with-lto'")
    worker = a_worker()
    all_swept(worker)
    MoneyCheck.objects.create(whole=True, finished_at=clock.now(), invariants=["a"])
    return worker
