"""Traces and errors, as a collector and as Sentry get them."""
