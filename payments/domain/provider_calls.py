"""Questions to providers outside of attempts, counted and traced like those of attempts."""

import time
from collections.abc import Callable
from typing import TypeVar

from payments.metrics.counters import count_provider_call
from payments.providers.base import NotSent, Unknown
from payments.traces.calls import record_provider_call

Said = TypeVar("Said")


def ask(provider: str, operation: str, question: Callable[[], Said]) -> Said:
    """Return what `question` returns; count and trace it as a call of `provider`, also where it raises an error."""
    began, said = time.perf_counter(), None
    try:
        said = question()
        return said
    finally:
        outcome = Unknown("") if said is None else said
        seconds = time.perf_counter() - began
        count_provider_call(provider, operation, outcome, seconds)
        record_provider_call("", provider, operation, outcome, seconds, isinstance(outcome, NotSent | Unknown))
