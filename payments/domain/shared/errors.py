"""What callers of the domain may catch. Each refusal carries what the API's error envelope needs."""

from dataclasses import dataclass
from enum import Enum, auto

from payments import ids
from payments.domain.shared.said import said

# Prefixes of IDs that other payment services have.
ELSEWHERE = frozenset({"tok", "pm", "pi", "py", "pay", "seti", "link", "ba", "order", "rfnd", "cust", "ewc"})


class ErrorKind(Enum):
    """Why a request is refused; the API has a status for each."""

    NOT_FOUND = auto()
    CONFLICT = auto()
    KEY_CONFLICT = auto()
    INVALID = auto()
    FORBIDDEN = auto()
    RATE_LIMITED = auto()
    UNAVAILABLE = auto()


@dataclass
class PaymentError(Exception):
    """A refusal: nothing was done, or what was done is already on record."""

    kind: ErrorKind
    code: str
    message: str
    param: str | None = None
    charge_id: str | None = None
    retry_after_seconds: int | None = None

    def __str__(self) -> str:
        return self.message


def not_found(what: str, param: str | None = None, text: str = "") -> PaymentError:
    """Return the error of an object that is not there; `text`, sent as its ID, may be of another kind or service."""
    prefix, separator, _ = text.partition("_")
    own = next((own for own, kind in ids.KINDS.items() if kind == what), None)
    origins = dict.fromkeys(ELSEWHERE, "of another service") | {
        own: f"that of {kind}s" for own, kind in ids.KINDS.items()
    }
    is_other = own and separator and prefix != own and prefix in origins
    hint = f" IDs of {what}s begin with {own}_; {prefix}_ is {origins[prefix]}." if is_other else ""
    return PaymentError(ErrorKind.NOT_FOUND, "resource_missing", f"No such {what}.{hint}", param)


def conflict(code: str, message: str, charge_id: str | None = None, param: str | None = None) -> PaymentError:
    return PaymentError(ErrorKind.CONFLICT, code, message, param, charge_id)


def merchant_closed() -> PaymentError:
    return conflict("merchant_not_active", "This account is closed, and takes nothing new.")


def invalid(code: str, param: str, message: str) -> PaymentError:
    return PaymentError(ErrorKind.INVALID, code, message, param)


def right_missing(right: str) -> PaymentError:
    return PaymentError(ErrorKind.FORBIDDEN, "right_missing", f"This key lacks the right {right}.")


def busy(charge_id: str | None = None) -> PaymentError:
    message = "Another operation on this charge has not ended yet. Try again in a moment."
    return PaymentError(ErrorKind.CONFLICT, "resource_busy", message, None, charge_id, retry_after_seconds=1)


def rate_limited(wait_seconds: int) -> PaymentError:
    """Return the error of every limit; it does not say which one, so that nobody learns how to stay below it."""
    message = said("Too many requests. Try again in {seconds} s.", seconds=wait_seconds)
    return PaymentError(ErrorKind.RATE_LIMITED, "rate_limited", message, retry_after_seconds=wait_seconds)


def unavailable(wait_seconds: int = 1) -> PaymentError:
    message = "The provider could not be reached and nothing was done. Try again in a moment."
    return PaymentError(ErrorKind.UNAVAILABLE, "provider_unavailable", message, retry_after_seconds=wait_seconds)


class NoSuchReturn(Exception):
    """An error: the return address belongs to no payment."""
