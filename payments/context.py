"""What the code below a request may know of it without being handed it."""

from contextvars import ContextVar

# The `req_…` of the request under way; empty outside of one.
request_id: ContextVar[str] = ContextVar("request_id", default="")
