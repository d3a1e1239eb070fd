"""What Xendit lists as moved: the records from which a restored database learns what it has lost.

Xendit lists money alone, and names a capture by nothing but its payment. What is held or released is not in the list.
Its documents leave open in which order it lists, whether the time of a capture is that of its hold, and how much a page
may hold. So what began earlier is asked for by its last change, and everything is read before it is sorted.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial

from payments.money import minor_units
from payments.providers.done_there import DoneThere, NotListed
from payments.providers.references import read_reference
from payments.providers.xendit import calls
from payments.providers.xendit.client import Asked, XenditAnswer, XenditClient
from payments.providers.xendit.fields import BUSY, Body, objects, text

PAGE = 50
# A time with more movements must be asked for in parts.
PAGES_MAX = 2_000
# A lookup moves nothing, so one that was not answered is repeated after each of these.
PAUSES_SECONDS = (1.0, 5.0, 30.0)
# Money that is taken, or on its way to the payer; a refund in any other state has failed.
TAKEN, RETURNED = "SUCCESS", ("SUCCESS", "PENDING")


def done_between(client: XenditClient, since: datetime, until: datetime) -> Iterator[DoneThere]:
    """Return each payment whose money was taken, and each refund, that changed since; oldest first. Raise NotListed."""
    refunds = _Refunds(client)
    ours = (each for each in _movements(client, since, until) if read_reference(text(each, "reference_id")))
    # All of it before the first is worked off: nothing that the caller does may come between two pages.
    found = [done for each in ours if (done := refunds.done(each) or _payment(each))]
    return iter(sorted(found, key=lambda done: done.done_at))


def _movements(client: XenditClient, since: datetime, until: datetime) -> Iterator[Body]:
    after_id = ""
    for _ in range(PAGES_MAX):
        answer = _answered(partial(calls.list_movements, client, since, until, PAGE, after_id))
        if answer.error_code:
            raise NotListed(f"it refused: {answer.error_code}")
        if not isinstance(answer.body.get("data"), list) or not isinstance(answer.body.get("has_more"), bool):
            raise NotListed("its list cannot be read")
        movements = objects(answer.body, "data")
        yield from movements
        if not answer.body["has_more"]:
            return
        last = text(movements[-1], "id") if movements else ""
        if not last or last == after_id:
            raise NotListed("its list has no end")
        after_id = last
    raise NotListed(f"it lists more than {PAGE * PAGES_MAX:,} movements: ask for a shorter time")


def _answered(ask: Callable[[], Asked]) -> XenditAnswer:
    """Return a definite answer, asked for again after a pause. Raise NotListed where there is none."""
    for pause in (*PAUSES_SECONDS, None):
        answer = ask()
        if isinstance(answer, XenditAnswer) and answer.error_code not in BUSY:
            return answer
        if pause is not None:
            time.sleep(pause)
    raise NotListed(f"it did not answer: {answer.error_code if isinstance(answer, XenditAnswer) else answer.why}")


def _payment(movement: Body) -> DoneThere | None:
    """Return the capture that a payment's movement is; None where no money was taken."""
    if movement.get("type") != "PAYMENT" or movement.get("status") != TAKEN:
        return None
    return DoneThere(
        reference="",
        provider_ref=_request_of(movement),
        payment_reference=text(movement, "reference_id"),
        kind="capture",
        amount=_amount(movement),
        currency=text(movement, "currency"),
        done_at=_began_at(movement),
    )


@dataclass
class _Refunds:
    """Refunds by their own description, and our names of their payments, each asked for once."""

    client: XenditClient
    _payments: dict[str, str] = field(default_factory=dict)

    def done(self, movement: Body) -> DoneThere | None:
        """Return the refund that is listed as a movement; None where it is no refund."""
        if movement.get("type") != "REFUND":
            return None
        refund_id = text(movement, "product_id")
        answer = _answered(partial(calls.get_refund, self.client, refund_id))
        described = movement if answer.error_code else answer.body
        return DoneThere(
            reference=text(described, "reference_id"),
            provider_ref=refund_id,
            payment_reference=self._payment_of(_request_of(movement) or text(described, "payment_request_id")),
            kind="refund",
            amount=_amount(described),
            currency=text(described, "currency"),
            done_at=_began_at(movement),
            has_failed=movement.get("status") not in RETURNED,
        )

    def _payment_of(self, request_id: str) -> str:
        """Return our name of the payment, empty where Xendit does not say it."""
        if request_id and request_id not in self._payments:
            answer = _answered(partial(calls.get_request, self.client, request_id))
            self._payments[request_id] = text(answer.body, "reference_id")
        return self._payments.get(request_id, "")


def _request_of(movement: Body) -> str:
    product = movement.get("product_data")
    return text(product, "payment_request_id") if isinstance(product, dict) else ""


def _amount(described: Body) -> int:
    amount = described.get("amount")
    if not isinstance(amount, Decimal) or amount <= 0:
        raise _unclear(described)
    try:
        return minor_units(amount, text(described, "currency"))
    except ValueError:
        raise _unclear(described) from None


def _began_at(movement: Body) -> datetime:
    try:
        moment = datetime.fromisoformat(text(movement, "created"))
    except ValueError:
        raise _unclear(movement) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _unclear(described: Body) -> NotListed:
    return NotListed(f"its movement {text(described, 'id')} cannot be read")
