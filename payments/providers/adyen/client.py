"""Adyen's own package, whose requests go over our connections and whose errors, which quote them, never arise.

It is loaded when it is first needed, for it takes a quarter of a second, and most processes need it never.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from payments.json_codecs import bounded_json
from payments.providers import http
from payments.providers.accounts import Account
from payments.providers.adyen import bodies
from payments.providers.adyen.channels import DOMAINS
from payments.providers.base import NotSent, Outcome, Rejected, Unknown

# Of Checkout and of Disputes, where an address is cut in two.
VERSION = re.compile(r"/v(?:72|30)(?=/)")
DONE = frozenset([200, 201])
TOO_MANY = 429
# Somebody else may be at the same request: it is not known how that ends.
IN_PROGRESS = "704"
AMBIGUOUS = frozenset([408, 409])

Answer = dict[str, Any]


class AdyenRefused(Exception):
    """There is no answer but this outcome."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__()
        self.outcome = outcome


class Wire:
    """The package's HTTP client, on our own connections and with their limits. `address` replaces Adyen's."""

    user_agent = "kaha"

    def __init__(self, address: str = "", send: http.Send = http.send) -> None:
        self._address = address
        self._send = http.restrict(send, DOMAINS, address)

    def request(
        self, method: str, url: str, json: Answer, xapikey: str, headers: Mapping[str, str]
    ) -> tuple[str, None, int, Mapping[str, str]]:
        """Return an answer in the package's form, without the request. Raise Refused."""
        all_headers = {**headers, "X-API-Key": xapikey, "Content-Type": "application/json"}
        whole = self._address + VERSION.split(url)[-1] if self._address else url
        reply = _sent(self._send, method, whole, all_headers, to_bytes(json))
        answer = _read(reply)
        if reply.status not in DONE:
            raise AdyenRefused(_refusal(reply, answer))
        return reply.content.decode(), None, reply.status, reply.headers


class AdyenClient:
    """Adyen's calls as one account makes them. In no repr, for it has the key."""

    def __init__(self, account: Account, address: str, send: http.Send = http.send) -> None:
        from Adyen import AdyenClient
        from Adyen.services.checkout.modifications_api import ModificationsApi
        from Adyen.services.checkout.payments_api import PaymentsApi
        from Adyen.services.disputes.disputes_api import DisputesApi

        client = AdyenClient(
            xapikey=account.credentials["api_key"],
            # Where the address is replaced, no prefix makes one of its own.
            platform="live" if account.livemode and not address else "test",
            live_endpoint_prefix=account.settings.get("live_prefix") or None,
        )
        client.http_client, client.http_init = Wire(address, send), True
        payments, modifications, disputes = PaymentsApi(client), ModificationsApi(client), DisputesApi(client)
        self.pay = payments.payments
        self.continue_payment = payments.payments_details
        self.list_methods = payments.payment_methods
        self.end = modifications.cancel_authorised_payment
        self.modify = {
            bodies.TAKEN: modifications.capture_authorised_payment,
            bodies.RELEASED: modifications.refund_or_cancel_payment,
            bodies.RETURNED: modifications.refund_captured_payment,
        }
        self.list_defense_reasons = disputes.retrieve_applicable_defense_reasons
        self.delete_defense_document = disputes.delete_dispute_defense_document
        self.supply_defense_document = disputes.supply_defense_document
        self.defend_dispute = disputes.defend_dispute
        self.accept_dispute = disputes.accept_dispute


def ask(call: Callable[..., Any], body: Answer, *path: str, key: str | None = None) -> Answer:
    """Return the answer to one of the package's calls. Raise Refused where there is none."""
    from Adyen import AdyenError

    try:
        answer: Answer = call(body, *path, idempotency_key=key).message
    except AdyenError as error:
        # Our wire raises none, so the package refused to send this, and its error quotes nothing but the account.
        raise AdyenRefused(Rejected("account_incomplete", type(error).__name__)) from None
    return answer


def to_bytes(body: Answer) -> bytes:
    """Encode the body; equal requests give equal bytes, because Adyen compares them under one key."""
    return json.dumps(body, sort_keys=True).encode()


def _sent(send: http.Send, method: str, url: str, headers: Mapping[str, str], body: bytes) -> http.Reply:
    try:
        return send(method, url, headers, body)
    except http.Unsent as error:
        raise AdyenRefused(NotSent(str(error))) from None
    except http.Unanswered as error:
        raise AdyenRefused(Unknown(str(error))) from None


def _read(reply: http.Reply) -> Answer:
    if reply.status == TOO_MANY:
        raise AdyenRefused(NotSent("too many requests"))
    try:
        answer = bounded_json.loads(reply.content)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise AdyenRefused(Unknown(f"HTTP {reply.status} without JSON"))
    return answer


def _refusal(reply: http.Reply, answer: Answer) -> Outcome:
    code = str(answer.get("errorCode", ""))
    passing = reply.headers.get("transient-error", "").lower() == "true"
    if passing or code == IN_PROGRESS or reply.status in AMBIGUOUS or not 400 <= reply.status < 500:
        return Unknown(f"HTTP {reply.status}, error {code}")
    return Rejected(code or str(reply.status), str(answer.get("message", "")))
