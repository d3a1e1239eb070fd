"""The start and end of the export in a process; it imports OpenTelemetry's SDK only where traces are exported."""

import logging

from django.conf import settings

from payments.traces import spans


def start(program: str) -> None:
    """Export the spans of this process, which runs `program`, if there is a collector. Call it after any fork."""
    if settings.OTEL_EXPORTER_OTLP_ENDPOINT:
        from payments.traces.exporter import OpenTelemetry

        endpoint, headers = settings.OTEL_EXPORTER_OTLP_ENDPOINT, settings.OTEL_EXPORTER_OTLP_HEADERS
        spans.export_to(OpenTelemetry(endpoint, headers, program), settings.TRACES_SAMPLE_RATE)


def stop() -> None:
    """Record no more spans, and send what is left, errors too; wait some seconds for each at most."""
    exporter = spans.exporter()
    spans.export_to(None)
    if exporter:
        exporter.stop()
    for handler in logging.getLogger().handlers:
        handler.flush()
