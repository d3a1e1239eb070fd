"""What the end of a try means for its webhook: pure decisions (contract, section 8)."""

from datetime import datetime
from http import HTTPStatus

from payments.models import Webhook
from payments.sensitive_data.redaction import redact_bytes
from payments.webhooks.claims import Claimed, FinishedAttempt
from payments.webhooks.retry_schedule import next_try_at
from payments.webhooks.transport.results import Answer, Failure

State = Webhook.State
REASON_MAX_LENGTH = 200


def finished_attempt(
    claimed: Claimed, result: Answer | Failure, started_at: datetime, now: datetime, random: float
) -> FinishedAttempt:
    """Return the attempt from `started_at` to `now` with its `result`; `random` (0 up to 1) spreads the next one."""
    first_try_at = claimed.first_try_at or started_at
    proper = isinstance(result, Answer) and result.is_proper
    failures = claimed.failures + (not proper)
    state, due_at = State.DELIVERED, None
    if claimed.url is None:
        state = State.CANCELLED
    elif isinstance(result, Answer) and result.status == HTTPStatus.GONE:
        state = State.GONE
    elif not proper:
        retry_after = result.retry_after if isinstance(result, Answer) else None
        due_at = next_try_at(first_try_at, failures, now, random, retry_after)
        state = State.WAITING if due_at else State.EXHAUSTED
    # Looked at in one piece with the body.
    headers, _, body = redact_bytes(_whole(result)).partition(b"\n\n")
    return FinishedAttempt(
        id=claimed.id,
        lease=claimed.lease,
        started_at=started_at,
        milliseconds=result.milliseconds,
        status=result.status if isinstance(result, Answer) else None,
        headers=headers.decode("utf-8", "replace"),
        answer=body,
        error="" if isinstance(result, Answer) else result.kind.value,
        reason="" if isinstance(result, Answer) else result.reason[:REASON_MAX_LENGTH],
        state=state.value,
        failures=failures,
        first_try_at=first_try_at,
        due_at=due_at,
    )


def _whole(result: Answer | Failure) -> bytes:
    if isinstance(result, Failure):
        return b""
    # aiohttp reads bytes that are no UTF-8 as surrogates: these are the bytes again.
    return result.headers.encode("utf-8", "surrogateescape") + b"\n\n" + result.kept_bytes
