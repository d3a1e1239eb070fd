"""A fake of Adyen's Checkout and Disputes APIs: it keeps books and keys, and reports outcomes by webhook.

It holds what it is asked and what it answers to Adyen's own descriptions.
"""

import json
import threading
from collections.abc import Callable
from typing import Any

from tests.providers.adyen.books import Booked, Books, State
from tests.providers.adyen.dispute_books import Refusal
from tests.providers.adyen.webhooks import MERCHANT_ACCOUNT
from tests.providers.openapi import described
from tests.support.fake_provider import FakeProvider
from tests.support.http_server import Answered, Asked

CHECKOUT = described("adyen-CheckoutService-v72.json")
DISPUTES = described("adyen-DisputeService-v30.json")
DISPUTE_CALLS = frozenset(
    {
        "/retrieveApplicableDefenseReasons",
        "/supplyDefenseDocument",
        "/deleteDisputeDefenseDocument",
        "/defendDispute",
        "/acceptDispute",
    }
)
PREFIX = "/v72"
API_KEY = "AQE-a-key-of-the-fake"
# Whose issuer wants to see its holder.
CHALLENGED = "4212345678910006"
# Holders whose cards are refused, and how Adyen says so.
REFUSED = {
    "NO REASON": ("2", "Refused"),
    "NO MONEY": ("12", "Not enough balance"),
    "OLD CARD": ("6", "Expired Card"),
    "WRONG CVC": ("24", "CVC Declined"),
    "NO ACQUIRER": ("4", "Acquirer Error"),
    "NO FRIEND": ("20", "FRAUD"),
}
NO_FIRST_PAYMENT = ("2", "Transaction must name the first one")
CANCELLED, NOT_AUTHENTICATED = ("16", "Shopper Cancelled"), ("11", "3D Not Authenticated")

Body = dict[str, Any]


class AdyenFake(FakeProvider):
    """The fake on its socket, at `address`."""

    def __init__(self) -> None:
        super().__init__(self._answer, overstated)
        self.books = Books()
        self._kept: dict[str, tuple[Asked, Answered]] = {}
        self._lock = threading.Lock()

    def _answer(self, asked: Asked) -> Answered:
        path, body = asked.path.removeprefix(PREFIX), json.loads(asked.body)
        description = DISPUTES if path in DISPUTE_CALLS else CHECKOUT
        description.check_request(asked.method, path, body)
        with self._lock:
            answered = self._refusal(asked, body) or self._once(asked, path, body)
        description.check_answer(asked.method, path, answered.status, answered.body)
        return answered

    def _refusal(self, asked: Asked, body: Body) -> Answered | None:
        if asked.headers.get("X-API-Key") != API_KEY:
            return error(401, "000", "HTTP Status Response - Unauthorized")
        if body.get("merchantAccount", body.get("merchantAccountCode", MERCHANT_ACCOUNT)) != MERCHANT_ACCOUNT:
            return error(403, "901", "Invalid Merchant Account")
        return None

    def _once(self, asked: Asked, path: str, body: Body) -> Answered:
        """Return the first answer under this key, if the question is the same."""
        key = asked.headers.get("Idempotency-Key", "")
        before, answered = self._kept.get(key, (None, None))
        if before is None or answered is None:
            answered = self._done(path, body)
            if key:
                self._kept[key] = asked, answered
        elif (before.path, before.body) != (asked.path, asked.body):
            return error(422, "704", "request already processed or in progress")
        return answered

    def _done(self, path: str, body: Body) -> Answered:
        if path in DISPUTE_CALLS:
            return self._respond(path.removeprefix("/"), body)
        if path == "/paymentMethods":
            return Answered(200, {"paymentMethods": [{"type": "scheme", "name": "Cards"}]})
        if path == "/payments":
            return self._pay(body)
        if path == "/payments/details":
            return self._proceed(body["details"]["redirectResult"])
        return self._cancel(body) if path == "/cancels" else self._modify(path, body)

    def _pay(self, body: Body) -> Answered:
        payment = self.books.payments[body["reference"]] = Booked(body, self.books.new_psp_reference())
        method = body["paymentMethod"]
        if not payment.is_card:
            return waiting(payment)
        if body["authenticationData"]["attemptAuthentication"] == "always" and method["number"] == CHALLENGED:
            return waiting(payment)
        refused = REFUSED.get(method["holderName"])
        if body["shopperInteraction"] == "ContAuth" and body["recurringProcessingModel"] != "CardOnFile":
            refused = refused if "networkTxReference" in body.get("additionalData", {}) else NO_FIRST_PAYMENT
        return self._refuse(payment, *refused) if refused else self._authorise(payment)

    def _authorise(self, payment: Booked) -> Answered:
        self.books.authorise(payment)
        return result(payment, "Authorised", additionalData={"cvcResult": "1 Matches"})

    def _refuse(self, payment: Booked, number: str, words: str) -> Answered:
        self.books.refuse(payment, words)
        code = {"4": "Error", "16": "Cancelled"}.get(number, "Refused")
        return result(payment, code, refusalReasonCode=number, refusalReason=words)

    def _proceed(self, redirect_result: str) -> Answered:
        payment = self.books.found(redirect_result)
        if payment is None or (payment.state is State.AWAITING and payment.agreed is None):
            return error(422, "14_006", "Required object 'paymentData' is not provided.")
        if not payment.is_card:
            # As in Adyen's own example, the answer names neither payment nor amount.
            code = "Authorised" if payment.state is State.TAKEN else "Cancelled"
            return Answered(200, {"resultCode": code, "pspReference": payment.psp_reference})
        return self._authorise(payment) if payment.agreed else self._refuse(payment, *NOT_AUTHENTICATED)

    def _respond(self, call: str, body: Body) -> Answered:
        disputed = self.books.disputes.get(body["disputePspReference"])
        if disputed is None:
            return undone("Invalid disputePspReference provided.")
        try:
            members = disputed.do(call, body)
        except Refusal as why:
            return undone(str(why))
        if call == "defendDispute":
            self.books.report_dispute(disputed, "INFORMATION_SUPPLIED", disputeStatus="Pending")
        elif call == "acceptDispute":
            self.books.report_dispute(disputed, "DISPUTE_DEFENSE_PERIOD_ENDED", disputeStatus="Accepted")
        return Answered(200, {"disputeServiceResult": {"success": True}, **members})

    def _cancel(self, body: Body) -> Answered:
        psp_reference = self.books.new_psp_reference()
        self.books.due.append(lambda: self.books.end(body["paymentReference"], psp_reference))
        return Answered(201, body | {"pspReference": psp_reference, "status": "received"})

    def _modify(self, path: str, body: Body) -> Answered:
        *_, original, verb = path.split("/")
        payment = self.books.found(original)
        if payment is None:
            return error(422, "167", "Original pspReference required for this operation")
        verbs: dict[str, Callable[[Booked, Body, str], None]] = {
            "captures": self.books.capture,
            "refunds": self.books.refund,
            "reversals": self.books.reverse,
        }
        psp_reference = self.books.new_psp_reference()
        self.books.due.append(lambda: verbs[verb](payment, body, psp_reference))
        named = {"paymentPspReference": original, "pspReference": psp_reference, "status": "received"}
        return Answered(201, body | named)


def result(payment: Booked, code: str, **members: Any) -> Answered:
    """How a payment ended, with its names and amount."""
    named = {"pspReference": payment.psp_reference, "merchantReference": payment.body["reference"]}
    return Answered(200, {"resultCode": code, "amount": payment.body["amount"], **named, **members})


def waiting(payment: Booked) -> Answered:
    """Return the payer's action: scan a code, or act on a page."""
    method = payment.body["paymentMethod"]["type"]
    if method == "wechatpayQR":
        action = {"type": "qrCode", "paymentMethodType": method, "qrCodeData": "weixin://pay/1"}
        return Answered(200, {"resultCode": "Pending", "pspReference": payment.psp_reference, "action": action})
    url = f"https://checkoutshopper-test.adyen.com/page/{payment.psp_reference}"
    action = {"type": "redirect", "method": "GET", "paymentMethodType": method, "url": url}
    return Answered(200, {"resultCode": "RedirectShopper", "pspReference": payment.psp_reference, "action": action})


def error(status: int, code: str, message: str) -> Answered:
    """Return a refusal of the request itself."""
    kind = "validation" if status == 422 else "security"
    return Answered(status, {"status": status, "errorCode": code, "message": message, "errorType": kind})


def undone(why: str) -> Answered:
    """Return what the Disputes API answers where it does not do what it is asked."""
    return Answered(200, {"disputeServiceResult": {"success": False, "errorMessage": why}})


def overstated(body: Body) -> Body:
    """Return the same answer about a larger amount."""
    amount = body["amount"]
    return body | {"amount": amount | {"value": amount["value"] + 1}}
