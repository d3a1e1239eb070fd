"""What callers of the domain may catch. Each refusal carries what the API's error envelope needs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from payments import ids
from payments.domain.catalogue import error_table as errors

# Prefixes of IDs that other payment services have.
ELSEWHERE = frozenset({"tok", "pm", "pi", "py", "pay", "seti", "link", "ba", "order", "rfnd", "cust", "ewc"})


@dataclass
class PaymentError(Exception):
    """A refusal: nothing was done, or what was done is already on record."""

    kind: errors.Refusal
    code: str
    message: str
    param: str | None = None
    charge_id: str | None = None
    retry_after_seconds: int | None = None

    def __str__(self) -> str:
        return self.message


def refused(
    kind: errors.Refusal, code: str, message: str = "", values: Mapping[str, object] | None = None, **members: Any
) -> PaymentError:
    """Return a refusal with this message, or with the words that the table has for its code, filled with `values`."""
    return PaymentError(kind, code, message or kind.words(code, values or {}), **members)


def not_found(what: str, param: str | None = None, text: str = "") -> PaymentError:
    """Return the error of an object that is not there; `text`, sent as its ID, may be of another kind or service."""
    prefix, separator, _ = text.partition("_")
    own = next((own for own, kind in ids.KINDS.items() if kind == what), None)
    origins = dict.fromkeys(ELSEWHERE, "of another service") | {
        own: f"that of {kind}s" for own, kind in ids.KINDS.items()
    }
    is_other = own and separator and prefix != own and prefix in origins
    hint = f" IDs of {what}s begin with {own}_; {prefix}_ is {origins[prefix]}." if is_other else ""
    return PaymentError(errors.NOT_FOUND, errors.RESOURCE_MISSING, f"No such {what}.{hint}", param)


def conflict(
    code: str, message: str = "", charge_id: str | None = None, param: str | None = None, **values: object
) -> PaymentError:
    """Return a conflict with this message, or with the words that the table has for its code, filled with `values`."""
    return refused(errors.CONFLICT, code, message, values, charge_id=charge_id, param=param)


def merchant_closed() -> PaymentError:
    return conflict("merchant_not_active", "This account is closed, and takes nothing new.")


def invalid(code: str, param: str, message: str) -> PaymentError:
    return PaymentError(errors.INVALID, code, message, param)


def right_missing(right: str) -> PaymentError:
    return refused(errors.NO_RIGHT, errors.RIGHT_MISSING, values={"right": right})


def busy(charge_id: str | None = None) -> PaymentError:
    return refused(errors.CONFLICT, errors.RESOURCE_BUSY, charge_id=charge_id, retry_after_seconds=1)


def rate_limited(wait_seconds: int) -> PaymentError:
    """Return the error of every limit; it does not say which one, so that nobody learns how to stay below it."""
    return refused(
        errors.TOO_MANY, errors.RATE_LIMITED, values={"seconds": wait_seconds}, retry_after_seconds=wait_seconds
    )


def unavailable(wait_seconds: int = 1) -> PaymentError:
    return refused(errors.UNAVAILABLE, errors.PROVIDER_UNAVAILABLE, retry_after_seconds=wait_seconds)


class NoSuchReturn(Exception):
    """An error: the return address belongs to no payment."""
