"""What a provider is asked to pay out to a bank account, and how that can stand."""

from dataclasses import dataclass, field

from payments.sensitive_data.redaction import redact


@dataclass(frozen=True, slots=True)
class PayoutOrder:
    """A payout to a bank account.

    `reference` (32 hex digits) is our name of it and the provider's idempotency key. `amount` is in the smallest unit
    of `currency`. `bic` is the bank's (ISO 9362). `number` is the account's, empty in a lookup. Holder and number are
    in no repr, so that no log can show them. `provider_ref` is empty until the provider gave one.
    """

    reference: str
    amount: int
    currency: str
    bic: str
    holder: str = field(repr=False, default="")
    number: str = field(repr=False, default="")
    description: str = ""
    provider_ref: str = ""


@dataclass(frozen=True, slots=True)
class Accepted:
    """The provider has it and will pay it, or is doing so."""

    provider_ref: str


@dataclass(frozen=True, slots=True)
class Paid:
    """The money has left for the bank account."""

    provider_ref: str


@dataclass(frozen=True, slots=True)
class Failed:
    """It will not be paid, and the money has not left: a definite no, with one of CODES."""

    code: str
    provider_ref: str = ""
    provider_code: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "provider_code", redact(self.provider_code))


@dataclass(frozen=True, slots=True)
class Returned:
    """It was paid, and the money came back."""

    provider_ref: str


# Why a payout failed, as merchants read it: one vocabulary for all providers, and for bank files.
CODES = {
    "account_refused": "The bank does not know the account, or takes no money for it.",
    "amount_refused": "The provider does not pay out such an amount.",
    "bank_not_supported": "The provider cannot pay out to this bank.",
    "insufficient_funds": "The account from which it was to be paid had too little money.",
    "provider_refused": "The provider or the bank refused it for a reason of its own.",
    "returned": "The bank sent the money back after it was paid.",
}
