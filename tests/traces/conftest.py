"""A collector, and this process while it exports to it."""

from collections.abc import Callable, Iterator

import pytest
from django.test.client import ClientHandler

from payments.traces import lifetime, spans
from tests.client import Api
from tests.traces.listeners import Listener, SpanGot, listener

Sent = Callable[[], list[SpanGot]]


@pytest.fixture
def collector() -> Iterator[Listener]:
    with listener() as listening:
        yield listening


@pytest.fixture
def exporting(settings, collector: Listener) -> Iterator[Sent]:
    """Record every trace; yield what ends the export and returns all spans."""
    settings.OTEL_EXPORTER_OTLP_ENDPOINT, settings.TRACES_SAMPLE_RATE = collector.url, 1.0

    def sent() -> list[SpanGot]:
        lifetime.stop()
        return collector.spans

    lifetime.start("web")
    yield sent
    if spans.exporter():
        lifetime.stop()


@pytest.fixture
def traced(exporting: Sent, api: Api) -> Api:
    """Return the API behind a chain of middleware that was loaded with traces on."""
    api.client.handler = ClientHandler(enforce_csrf_checks=False)
    return api
