"""Context variables of the request or command under way."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Actor:
    """The actor for the audit log: an operator at an address, or a process's account on a host."""

    name: str
    origin: str
    operator_id: int | None = None


# The ID of the request (`req_…`); empty outside of one.
request_id: ContextVar[str] = ContextVar("request_id", default="")
# The merchant whose key signed the request; None without a key, and outside of a request.
merchant: ContextVar[UUID | None] = ContextVar("merchant", default=None)
# Returns the actor; a function, because a user may sign in during the request. None for background processes.
actor: ContextVar[Callable[[], Actor] | None] = ContextVar("actor", default=None)
# The reason that the actor gave; empty where none was asked for.
reason: ContextVar[str] = ContextVar("reason", default="")

# Lets other requests run while this one waits.
on_wait: ContextVar[Callable[[], object] | None] = ContextVar("on_wait", default=None)


def begin_wait() -> None:
    """Let other requests run before this one waits for a provider or anything else that is slow."""
    if end_turn := on_wait.get():
        end_turn()


@contextmanager
def because(text: str) -> Iterator[None]:
    """Set the reason for the audit log within the block."""
    token = reason.set(text)
    try:
        yield
    finally:
        reason.reset(token)
