"""What traces cost a charge: off, on without a sampled request, with one in a hundred, and with every request."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

from django.conf import settings
from django.test.client import ClientHandler

from payments.domain.merchants.merchants import create_merchant
from payments.traces import lifetime
from tests.benchmark.calls.counts import counted
from tests.client import Api
from tests.traces.listeners import listener_process

# None without a collector.
RATES = {"off": None, "none sampled": 0.0, "one in a hundred": 0.01, "every request": 1.0}
FOLDER = "payments/traces/"


def traces(rounds: int, charges: int) -> dict[str, dict[str, float]]:
    """Return CPU, calls of functions, and those of functions of `payments.traces`, of a charge by kind; medians.

    The kinds alternate. CPU is that of the whole process, with the thread that exports, without the collector.
    """
    settings.ALLOWED_HOSTS, settings.RATE_LIMIT = ["testserver"], "100000/second"
    key, milliseconds = create_merchant("Measured").keys["sk_test"], {kind: list[float]() for kind in RATES}
    with listener_process() as url:
        apis = {kind: _api(key, url if rate is not None else "") for kind, rate in RATES.items()}
        for _ in range(rounds):
            for kind, rate in RATES.items():
                with _exporting(rate):
                    milliseconds[kind].append(_cpu_milliseconds(apis[kind], charges))
        found = {}
        for kind, rate in RATES.items():
            with _exporting(rate):
                found[kind] = {"cpu_milliseconds": round(median(milliseconds[kind]), 3)} | _calls(apis[kind])
    return found


def _api(key: str, url: str) -> Api:
    """Return the API behind middleware that is loaded with this collector."""
    settings.OTEL_EXPORTER_OTLP_ENDPOINT = url
    api = Api(key)
    api.client.handler = ClientHandler(enforce_csrf_checks=False)
    for _ in range(10):
        api.charge()
    return api


@contextmanager
def _exporting(rate: float | None) -> Iterator[None]:
    if rate is None:
        yield
        return
    settings.TRACES_SAMPLE_RATE = rate
    lifetime.start("web")
    yield
    lifetime.stop()


def _cpu_milliseconds(api: Api, charges: int) -> float:
    sources = [api.source() for _ in range(charges)]
    began = time.process_time()
    for source in sources:
        api.charge_source(source)
    return (time.process_time() - began) * 1000 / charges


def _calls(api: Api) -> dict[str, float]:
    """Return how many functions of Python a charge calls."""
    source = api.source()
    count = counted([lambda: api.charge_source(source)], lambda: 0, warm=0)
    of_traces = sum(calls for name, calls in count.functions.items() if name.startswith(FOLDER))
    return {"calls": count.python, "calls_of_traces": of_traces}
