"""Traces for OpenTelemetry: a request with its statements, the calls of providers and the webhooks that follow from it.

Without OTEL_EXPORTER_OTLP_ENDPOINT nothing is recorded, and nothing here imports OpenTelemetry's SDK.
"""
