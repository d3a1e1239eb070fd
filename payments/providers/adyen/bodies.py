"""What Adyen is asked, built from what is asked of us: the same question gives the same body at any time."""

import re
from typing import Any
from urllib.parse import urlsplit

from payments.names import plain
from payments.providers.adyen.channels import CARD, METHODS
from payments.providers.base import OnFile, Operation, Payment

Body = dict[str, Any]

# What a statement shows, and how much of it.
UNSHOWN = re.compile(r"[^A-Za-z0-9 .,'_\-?+*/]")
STATEMENT_CHARACTERS = 22
# A webhook gives it back, and says nothing else about whether the money is held or taken.
CAPTURE = "capture"
NETWORK_REFERENCE = "networkTxReference"
AT_ONCE, LATER = "at_once", "later"
TAKEN, RELEASED, RETURNED = "capture", "void", "refund"
# Our pages keep nothing of the payer's browser, and Adyen takes no payment to be authenticated without one.
BROWSER = {
    "acceptHeader": "text/html,*/*",
    "colorDepth": 24,
    "javaEnabled": False,
    "language": "en-PH",
    "screenHeight": 800,
    "screenWidth": 1280,
    "timeZoneOffset": -480,
    "userAgent": "Mozilla/5.0",
}


def payment(asked: Payment, merchant_account: str) -> Body:
    """Return the body of POST /payments."""
    optional = {
        "shopperEmail": asked.payer.email,
        "telephoneNumber": asked.payer.phone,
        "shopperStatement": UNSHOWN.sub("", asked.statement_descriptor)[:STATEMENT_CHARACTERS].strip(),
    }
    # The values of additional data are texts, also where they are yes or no.
    additional = {} if asked.capture else {"manualCapture": "true"}
    if asked.payer_absent and asked.card and asked.network_reference:
        additional[NETWORK_REFERENCE] = asked.network_reference
    return {
        "merchantAccount": merchant_account,
        "reference": asked.reference,
        "amount": amount(asked),
        "paymentMethod": _method(asked),
        "returnUrl": asked.return_url,
        **{name: value for name, value in optional.items() if value},
        **({"captureDelayHours": 0} if asked.capture else {}),
        "metadata": {CAPTURE: AT_ONCE if asked.capture else LATER},
        **({"additionalData": additional} if additional else {}),
        **_presence(asked),
        **(_authentication(asked) if asked.card else {}),
    }


def details(redirect_result: str) -> Body:
    """Return the body of POST /payments/details."""
    return {"details": {"redirectResult": redirect_result}}


def cancel(payment_reference: str, merchant_account: str) -> Body:
    """Return the body of POST /cancels; it has no reference of its own, so Adyen returns the payment's."""
    return {"merchantAccount": merchant_account, "paymentReference": payment_reference}


def modification(operation: Operation, kind: str, merchant_account: str) -> Body:
    """Return the body of a capture, a refund, or a reversal, which covers everything and names no amount."""
    body: Body = {"merchantAccount": merchant_account, "reference": name(kind, operation.reference)}
    return body if kind == RELEASED else body | {"amount": amount(operation)}


def name(kind: str, reference: str) -> str:
    """Return an operation's reference at Adyen.

    What is done by hand there has the payment's name, so those of ours must say what they are of.
    """
    return f"{kind}-{reference}"


def amount(asked: Payment | Operation) -> Body:
    """Return an amount in Adyen's form."""
    return {"currency": asked.currency, "value": asked.amount}


def _method(asked: Payment) -> Body:
    method = METHODS[asked.source_type]
    if method != CARD or asked.card is None:
        return {"type": method}
    card = asked.card
    named = {
        "type": CARD,
        "number": card.number,
        "expiryMonth": card.exp_month,
        "expiryYear": card.exp_year,
        "holderName": plain(card.name),
    }
    return named | ({"cvc": card.cvc} if card.cvc else {})


def _presence(asked: Payment) -> Body:
    """Return who asks for the payment and why, in the words of card networks.

    Adyen takes `ContAuth` with any model but `CardOnFile` for a payment without its payer.
    """
    if asked.payer_absent:
        model = "Subscription" if asked.recurring else "UnscheduledCardOnFile"
        return {"shopperInteraction": "ContAuth", "recurringProcessingModel": model}
    if asked.on_file is OnFile.NO or asked.card is None:
        return {"shopperInteraction": "Ecommerce"}
    if asked.on_file is OnFile.KEPT and not asked.recurring:
        return {"shopperInteraction": "ContAuth", "recurringProcessingModel": "CardOnFile"}
    # The first of those that follow: they need not have its amount or come at fixed times.
    model = "Subscription" if asked.recurring else "UnscheduledCardOnFile"
    return {"shopperInteraction": "Ecommerce", "recurringProcessingModel": model}


def _authentication(asked: Payment) -> Body:
    if not asked.authenticate or asked.payer_absent:
        return {"authenticationData": {"attemptAuthentication": "never"}}
    page = urlsplit(asked.return_url)
    return {
        "authenticationData": {"attemptAuthentication": "always"},
        "browserInfo": BROWSER,
        "channel": "Web",
        "origin": f"{page.scheme}://{page.netloc}",
    }
