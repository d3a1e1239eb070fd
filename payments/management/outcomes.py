"""What a provider answered, in words for terminals."""

import json

from payments.providers.base import (
    ActionRequired,
    Approved,
    Declined,
    NotFound,
    NotSent,
    Outcome,
    Pending,
    Rejected,
    Unknown,
)
from payments.redaction import redact_all


def said(outcome: Outcome) -> str:
    """One line on an outcome, with the provider's references and addresses as they are, to be looked up and opened."""
    return " ".join(_words(outcome).split())


def _words(outcome: Outcome) -> str:
    match outcome:
        case Approved(ref, captured, _, response):
            facts = json.dumps(redact_all(response)) if response else ""
            return f"approved{', captured' if captured else ''} {ref} {facts}"
        case Declined(code, ref, provider_code, message):
            return f"declined, {code} {ref} ({provider_code}: {message})"
        case ActionRequired(ref, url, _, qr):
            return f"the payer must act {ref} {url or qr}"
        case Pending(ref):
            return f"pending, the end comes later {ref}"
        case _:
            return _without_answer(outcome)


def _without_answer(outcome: Rejected | Unknown | NotSent | NotFound) -> str:
    match outcome:
        case Rejected(provider_code, message):
            return f"rejected, our request or account is wrong ({provider_code}: {message})"
        case Unknown(why):
            return f"unknown, it may have happened ({why})"
        case NotSent(why):
            return f"not sent ({why})"
        case NotFound():
            return "the provider knows nothing of it"
