"""What operators do to a checkout. A hold is captured on the page of its charge."""

from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments.admin.charges.payer_messages import WOULD_BE_SENT
from payments.admin.framework.actions import Action, Done
from payments.admin.framework.formats import money
from payments.admin.framework.object_actions import Facts
from payments.db.writes import StaleRow
from payments.domain.checkout import collect, requests, sessions
from payments.domain.checkout.payments import description_of
from payments.domain.checkout.verbs import EXPIRE, RESEND, STOP_COLLECTING, TRY_NOW, VOID_REQUEST
from payments.domain.shared.errors import PaymentError
from payments.models import Checkout


class OnCheckout(Action):
    """An action on a checkout, of which the form says what it is for and its amount."""

    for_merchants = True
    refusals = (PaymentError,)

    def about(self, checkout: Checkout) -> Facts:
        yield from super().about(checkout)
        yield gettext("For"), description_of(checkout)
        yield gettext("Amount"), money(checkout.amount, checkout.currency)


class ExpireSession(OnCheckout, verb=EXPIRE):
    """End a session that nobody has paid and nobody is paying."""

    over = _("This session cannot expire: it is paid, over, or being paid.")

    def fits(self, checkout: Checkout) -> bool:
        return checkout.kind == Checkout.Kind.SESSION and checkout.state == Checkout.State.UNPAID

    def do(self, checkout: Checkout, cleaned: dict[str, Any]) -> Done:
        sessions.expire_for_operator(checkout)
        return gettext("Expired. It cannot be paid any more.")


class VoidRequest(OnCheckout, verb=VOID_REQUEST):
    """Void a payment request that nobody has paid and nobody is paying."""

    over = _("This request cannot be voided: it is paid, voided, or being paid.")

    def fits(self, checkout: Checkout) -> bool:
        return checkout.kind == Checkout.Kind.REQUEST and checkout.state == Checkout.State.UNPAID

    def do(self, checkout: Checkout, cleaned: dict[str, Any]) -> Done:
        requests.void_for_operator(checkout, cleaned["reason"])
        return gettext("Voided. It cannot be paid any more.")


class ResendRequest(OnCheckout, verb=RESEND):
    """Send the message about an open payment request again."""

    over = _("This request is not open, so it needs no message any more.")

    def fits(self, checkout: Checkout) -> bool:
        return checkout.kind == Checkout.Kind.REQUEST and requests.is_open(checkout)

    def do(self, checkout: Checkout, cleaned: dict[str, Any]) -> Done:
        requests.resend_for_operator(checkout)
        sent = gettext("Sent again. A worker delivers it in a moment.")
        return sent if checkout.livemode else str(WOULD_BE_SENT)


class TryNow(OnCheckout, verb=TRY_NOW):
    """Have a worker charge the kept card of a request at once."""

    over = _("This request cannot be tried now.")
    too_late = {StaleRow: over}

    def fits(self, checkout: Checkout) -> bool:
        return checkout.kind == Checkout.Kind.REQUEST and collect.can_try(checkout)

    def do(self, checkout: Checkout, cleaned: dict[str, Any]) -> Done:
        collect.try_now_for_operator(checkout)
        return gettext("A worker charges the card in a moment.")


class StopCollecting(OnCheckout, verb=STOP_COLLECTING):
    """Charge the kept card of a request no more."""

    over = _("This request does not collect itself, or a try is under way.")

    def fits(self, checkout: Checkout) -> bool:
        return checkout.kind == Checkout.Kind.REQUEST and checkout.request.collect_at is not None

    def do(self, checkout: Checkout, cleaned: dict[str, Any]) -> Done:
        collect.stop_for_operator(checkout)
        return gettext("Stopped. The card is charged no more.")
