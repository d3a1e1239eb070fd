"""What the code below a request may know of it without being handed it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts, and from where: an operator at an address, or the account of a process on a host."""

    name: str
    origin: str
    operator_id: int | None = None


# The `req_…` of the request under way; empty outside of one.
request_id: ContextVar[str] = ContextVar("request_id", default="")
# The merchant whose key signed the request under way; None for a request without one, and outside of one.
merchant: ContextVar[UUID | None] = ContextVar("merchant", default=None)
# Tells who acts, when asked: somebody may sign in while the request runs. None where a process acts by itself.
actor: ContextVar[Callable[[], Actor] | None] = ContextVar("actor", default=None)
# Why it is done, as whoever acts said; empty where nobody asked.
reason: ContextVar[str] = ContextVar("reason", default="")

# Ends the turn of the request under way, so that others run while it waits.
on_wait: ContextVar[Callable[[], object] | None] = ContextVar("on_wait", default=None)


def begin_wait() -> None:
    """Let other requests run, before this one waits for a provider or anything else that may be slow."""
    if end_turn := on_wait.get():
        end_turn()


@contextmanager
def because(said: str) -> Iterator[None]:
    """Has what is done meanwhile be told with this reason."""
    token = reason.set(said)
    try:
        yield
    finally:
        reason.reset(token)
