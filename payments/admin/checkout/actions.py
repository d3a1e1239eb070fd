"""What operators do to a checkout. A hold is captured on the page of its charge."""

from typing import Any

from payments.admin.framework.formats import money
from payments.admin.framework.object_actions import Facts
from payments.admin.framework.row_actions import Done, RowAction
from payments.domain.checkout import sessions
from payments.domain.checkout.payments import description_of
from payments.domain.shared.errors import PaymentError
from payments.models import Checkout


class ExpireSession(RowAction):
    """End a session that nobody has paid and nobody is paying."""

    name, label = "expire", "Expire"
    permission = "payments.expire_checkout"
    refusals = (PaymentError,)
    over = "This session cannot expire: it is paid, over, or being paid."
    what_happens = (
        "The payer's page takes no payment any more, and the merchant gets an event. Nothing is charged. "
        "This cannot be undone."
    )

    def fits(self, checkout: Checkout) -> bool:
        return checkout.kind == Checkout.Kind.SESSION and checkout.state == Checkout.State.UNPAID

    def about(self, checkout: Checkout) -> Facts:
        yield from super().about(checkout)
        yield "For", description_of(checkout)
        yield "Amount", money(checkout.amount, checkout.currency)

    def do(self, checkout: Checkout, cleaned: dict[str, Any]) -> Done:
        sessions.expire_for_operator(checkout)
        return "Expired. It cannot be paid any more."
