"""What kaha asks of a payment service provider, and what a provider may answer.

A connector is any object with the methods of `Provider`. It knows nothing of kaha's tables, takes everything it needs
as an argument and returns an `Outcome`; it never raises for something that happened to the money. An exception that
escapes from it counts as `Unknown`. What a provider says in words is kept and shown, so an outcome takes card numbers
and security codes out of it.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, StrEnum, auto
from typing import Any, Protocol

from payments.providers.disputes import Disputed, DisputeNews
from payments.providers.failures.retry import Retry
from payments.providers.payouts import Accepted, Failed, Paid, Returned
from payments.sensitive_data.redaction import redact

BANK_NAME_MAX_LENGTH = 100


@dataclass(frozen=True, slots=True)
class CardData:
    """A card as the payer typed it. It never appears in a repr, so that no log can show it."""

    number: str = field(repr=False)
    exp_month: str = field(repr=False)
    exp_year: str = field(repr=False)
    name: str = field(repr=False)
    cvc: str | None = field(repr=False, default=None)


@dataclass(frozen=True, slots=True)
class Payer:
    """The payer, as the merchant described them; unknown members are empty. No repr, because it is personal data."""

    name: str = field(repr=False, default="")
    email: str = field(repr=False, default="")
    phone: str = field(repr=False, default="")


class OnFile(Enum):
    """Whether a payment's source is kept for a customer, which card networks call credentials on file."""

    NO = auto()
    TO_BE_KEPT = auto()  # if this payment succeeds
    KEPT = auto()


@dataclass(frozen=True, slots=True)
class Payment:
    """A payment to be taken or held.

    `reference` (32 hex digits) is our name of it and the provider's idempotency key. `amount` is in the smallest unit
    of `currency`. `authenticate` says whether the payer must be asked (3-D Secure). With `payer_absent` the source
    is a vaulted one, whose payer agreed when it was kept and cannot be asked now; one of a series at fixed times is
    `recurring`. `network_reference` is the card network's of a kept card's first payment, by whichever provider: the
    network knows the card by its number. `initiator_stated` where the merchant said who charges, and did not leave it
    to the default; it is not known in a lookup. The payer's browser comes back to `return_url`. `card` is None for
    other types, and in a lookup made after the card data was destroyed. `provider_ref` is empty until the provider
    gave one.
    `asked_at` is when it was asked for at first, `payer` what is known of the payer.
    """

    reference: str
    amount: int
    currency: str
    source_type: str
    capture: bool
    authenticate: bool
    return_url: str
    description: str
    statement_descriptor: str
    card: CardData | None = None
    provider_ref: str = ""
    payer_absent: bool = False
    on_file: OnFile = OnFile.NO
    network_reference: str = ""
    recurring: bool = False
    initiator_stated: bool = False
    asked_at: datetime | None = None
    payer: Payer = field(default_factory=Payer)


@dataclass(frozen=True, slots=True)
class Operation:
    """A capture, void, refund or cancellation of a payment that the provider knows, or an extension of its hold.

    `reference` is our name of this operation; `payment_reference` and `payment_provider_ref` are ours and the
    provider's of the payment, whose type is `source_type`; `provider_ref` is the provider's name of this operation,
    empty until it gave one. An extension is by `hold_days`.
    """

    class Kind(StrEnum):
        CAPTURE = "capture"
        VOID = "void"
        CANCEL = "cancel"
        REFUND = "refund"
        EXTEND = "extend"

    reference: str
    kind: str
    payment_reference: str
    payment_provider_ref: str
    amount: int
    currency: str
    reason: str = ""
    provider_ref: str = ""
    hold_days: int = 0
    source_type: str = ""


@dataclass(frozen=True, slots=True)
class CardFacts:
    """What a provider says of a payer's card: its bank, ISO 3166 country and funding, each empty where it does not."""

    issuing_bank: str = ""
    country: str = ""
    funding: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "issuing_bank", redact(self.issuing_bank)[:BANK_NAME_MAX_LENGTH])


@dataclass(frozen=True, slots=True)
class BankAccount:
    """The account behind a debit, with the members of `source.bank_account`; a provider masks its number."""

    reference_id: str
    bank_type: str
    bank_code: str
    account_name: str
    account_number: str
    account_type: str
    expires_at: str


@dataclass(frozen=True, slots=True)
class Approved:
    """Done. For a payment, `captured` says whether the money was taken or is held.

    `network_reference` is the card network's reference of the payment, empty where the provider does not say it.
    `card` and `bank_account` are what it says of what the payer paid with, None where it says nothing.
    """

    provider_ref: str
    captured: bool = False
    cvc_checked: str = "unchecked"
    response: dict[str, Any] | None = None
    network_reference: str = ""
    card: CardFacts | None = None
    bank_account: BankAccount | None = None


@dataclass(frozen=True, slots=True)
class Declined:
    """A definite no, with a code of the contract's `failure_data`; `message` is the provider's, without secrets.

    `retryable` where the provider marks it as a fault of its own or of the network, so that another one may be asked.
    `retry` is what the provider or the network advises, None where it is what `code` says, and `retry_after_hours` how
    long to wait, 0 where no time was named. `card` is what it says of the payer's card.
    """

    code: str
    provider_ref: str = ""
    provider_code: str = ""
    message: str = ""
    cvc_checked: str = "unchecked"
    retryable: bool = False
    retry: Retry | None = None
    card: CardFacts | None = None
    retry_after_hours: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", redact(self.message))


@dataclass(frozen=True, slots=True)
class ActionRequired:
    """The payer must act at `url`; with a `confirmation_id` a one-time PIN is wanted, which `verify` takes too.

    Without a `url`, the payer scans the code whose text is `qr`, which a page of ours shows.
    """

    provider_ref: str
    url: str
    confirmation_id: str = ""
    qr: str = ""


@dataclass(frozen=True, slots=True)
class Pending:
    """The provider has accepted it and reports the outcome later."""

    provider_ref: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """It may have happened: a time-out after sending, a 5xx, an answer that cannot be read."""

    why: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "why", redact(self.why))


@dataclass(frozen=True, slots=True)
class NotSent:
    """It certainly did not happen: the request never left (connection refused, 429)."""

    why: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "why", redact(self.why))


@dataclass(frozen=True, slots=True)
class Rejected:
    """It certainly did not happen, and no payer is to blame: our request or our account is wrong (a definite 4xx)."""

    provider_code: str
    message: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", redact(self.message))


@dataclass(frozen=True, slots=True)
class NotFound:
    """The answer of a lookup only: the provider never saw this reference."""


Outcome = Approved | Declined | ActionRequired | Pending | Unknown | NotSent | Rejected | NotFound
PayoutOutcome = Accepted | Paid | Failed | Returned | Unknown | NotSent | Rejected | NotFound


@dataclass(frozen=True, slots=True)
class WebhookEvent:
    """A provider's own event about the payment or operation with our `reference`.

    Without an `outcome` it proves nothing but that something happened, and the provider is asked. `key` is the same
    however often it is sent, empty where the provider has no such key. `amount` and `currency`, where present, must be
    those that were asked for. `provider_ref` serves to look the outcome up where we do not have the provider's own ID
    yet; only the lookup's answer counts. `payment` is the payment's reference, ours or the provider's, for an operation
    that may not be ours: somebody made it by hand at the provider. With a `dispute`, the event says only how a
    dispute of the payment of `reference` stands, or only that there is news of one, and then all of it is looked up. A
    event about a payout has no outcome: it is always looked up.
    """

    reference: str
    outcome: Outcome | None
    key: str = ""
    amount: int | None = None
    currency: str = ""
    provider_ref: str = ""
    payment: str = ""
    dispute: Disputed | DisputeNews | None = None


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a provider can do with one source type.

    By `hold_extension_days` it extends a hold at once, 0 for never. `void_captured` where it gives a captured payment
    back before it is settled. `amounts` are the smallest and the largest amount by currency, in its smallest unit;
    None where every currency and amount is taken. By `zero_amount` a card is checked with a payment of nothing.
    """

    hold: bool
    refund: bool = True
    partial_refund: bool = True
    hold_extension_days: int = 0
    void_captured: bool = True
    amounts: Mapping[str, tuple[int, int]] | None = None
    zero_amount: bool = False

    def takes(self, amount: int, currency: str) -> bool:
        """Whether an amount of this currency is within the limits."""
        least, most = self.bounds(currency)
        return least <= amount <= most

    def bounds(self, currency: str) -> tuple[int, int]:
        """Return the smallest and the largest amount of this currency; the largest is less where none is taken."""
        return (0, sys.maxsize) if self.amounts is None else self.amounts.get(currency, (1, 0))


class BadSignature(Exception):
    """A webhook that does not come from the provider."""


class Provider(Protocol):
    """A connector. `timeout_seconds` bounds each call in all, so that recovery knows when nobody waits any more."""

    name: str
    timeout_seconds: int

    def capabilities(self, source_type: str) -> Capabilities | None:
        """Return the capabilities for this source type; None when the provider does not accept it."""

    def create_payment(self, payment: Payment) -> Outcome:
        """Take or hold the money, or return what the payer must do first."""

    def plain_decline(self, payment: Payment) -> Declined:
        """Return the decline of an issuer that gives no reason, without a call. It is not retryable."""

    def continue_payment(self, payment: Payment, params: Mapping[str, str]) -> Outcome:
        """Continue after the payer came back (`params` of the return URL) or gave a PIN (`otp`)."""

    def capture(self, operation: Operation) -> Outcome:
        """Take `amount` of a held payment and releases the rest."""

    def void(self, operation: Operation) -> Outcome:
        """Releases a held payment, or gives a captured one back before it is settled."""

    def cancel(self, operation: Operation) -> Outcome:
        """End a payment that still awaits its payer; Approved only where nobody can pay it any more."""

    def refund(self, operation: Operation) -> Outcome:
        """Give `amount` of a captured payment back."""

    def extend(self, operation: Operation) -> Outcome:
        """Keep a held payment for `hold_days` longer."""

    def resolve(self, asked: Payment | Operation) -> Outcome:
        """Return its outcome, by lookup or harmless replay; may be NotFound. Open no new exposure."""

    def read_webhook(self, headers: Mapping[str, str], body: bytes) -> list[WebhookEvent]:
        """Verify and read a webhook of the provider. Raise BadSignature, ValueError where it cannot be read."""

    def test_credentials(self) -> Outcome:
        """Approved where the provider knows the account, Rejected where not; moves nothing."""
