"""What a provider answers to small payments, step by step, with the credentials of one of our accounts there.

No charge is made, and our books know nothing of it; what was taken is given back, and what nobody paid is ended.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from django.conf import settings

from payments import clock, sourcetypes
from payments.domain import provider_calls
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.merchants.terms import is_enabled
from payments.domain.provider_calls import ProviderCall
from payments.domain.routing import provider_accounts
from payments.models import ProviderAccount
from payments.money import DEFAULT_CURRENCY
from payments.providers.base import (
    ActionRequired,
    Approved,
    Capabilities,
    CardData,
    Operation,
    Outcome,
    Payer,
    Payment,
    Pending,
    Provider,
    Unknown,
)
from payments.providers.references import trial_reference
from payments.providers.registry import CONNECTORS

# The least that anybody takes on a card, in centavos.
SMALL = 2_000
NOBODY = Payer("Juan dela Cruz", "juan@example.com", "+639171234567")
# A page that is there for such uses, where kaha has none that a provider would take.
ELSEWHERE = "https://example.com/"

Pay = Callable[[ActionRequired], Mapping[str, str] | None]


class NoRoute(Exception):
    """No payment can reach the account, so there was none to try; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Step:
    """One question to the provider, and what it answered; `source_type` is empty where it is about the account."""

    source_type: str
    name: str
    outcome: Outcome

    @property
    def is_well(self) -> bool:
        return isinstance(self.outcome, Approved | ActionRequired | Pending)


@dataclass
class TrialPayment:
    """A payment that tries a connection step by step, and reports each step.

    `pay` lets a person act as the payer and returns the query of the return URL; None where nobody pays.
    """

    account: ProviderAccount
    payment: Payment
    can: Capabilities
    report: Callable[[Step], None] = field(repr=False)
    pay: Pay = field(repr=False)

    def run(self, end: str) -> None:
        """Make the payment and end it by `end`, a refund or a void, or cancel it where nobody pays."""
        outcome = self._ask("create", lambda provider: provider.create_payment(self.payment))
        if isinstance(outcome, Unknown):
            outcome = self._look_up()
        if isinstance(outcome, ActionRequired):
            params = self.pay(outcome)
            if params is None:
                outcome = self._look_up()
            else:
                outcome = self._ask("continue", lambda provider: provider.continue_payment(self.payment, params))
        if isinstance(outcome, Approved):
            if end == Operation.Kind.REFUND and not outcome.captured:
                captured = self._operate(Operation.Kind.CAPTURE)
                # What is still held must not stay so.
                end = end if isinstance(captured, Approved | Pending) else Operation.Kind.VOID
            if end == Operation.Kind.VOID or self.can.refund:
                self._operate(end)
        elif isinstance(outcome, ActionRequired | Pending | Unknown):
            self._operate(Operation.Kind.CANCEL)

    def _look_up(self) -> Outcome:
        return self._ask("look up", lambda provider: provider.resolve(self.payment))

    def _operate(self, kind: str) -> Outcome:
        of = self.payment
        operation = Operation(
            trial_reference(),
            kind,
            of.reference,
            of.provider_ref,
            of.amount,
            of.currency,
            reason="requested_by_customer" if kind == Operation.Kind.REFUND else "",
            source_type=of.source_type,
        )
        return self._ask(kind, lambda provider: getattr(provider, kind)(operation), names_payment=False)

    def _ask(self, name: str, question: Callable[[Provider], Outcome], names_payment: bool = True) -> Outcome:
        call = ProviderCall(self.account.provider, self.account.id, "trial", self.payment.reference)
        outcome = provider_calls.ask(call, partial(provider_accounts.connected, self.account), question)
        if names_payment and (ref := getattr(outcome, "provider_ref", "")):
            self.payment = replace(self.payment, provider_ref=ref)
        self.report(Step(self.payment.source_type, name, outcome))
        return outcome


def check(account: ProviderAccount, report: Callable[[Step], None], pay: Pay) -> None:
    """Test the credentials and, where they are good, a small payment of each type that is enabled.

    One that can be held is made twice, to be refunded and to be released. Live mode has no card to try with. Raise
    NoRoute for an account of live mode to which no route leads that it can take.
    """
    known = provider_accounts.try_credentials(account)
    report(Step("", "credentials", known))
    if not isinstance(known, Approved):
        return
    provider, card = provider_accounts.connected(account), CONNECTORS[account.provider].test_card
    reached = _source_types(account, provider)
    if account.livemode and not reached:
        raise NoRoute(
            "No payment can reach this account: no route that is enabled leads to it for a source type that it takes. "
            "Add one on the account's page in the admin, have it approved, and run this again."
        )
    with_cards = card is not None and not account.livemode
    source_types = [name for name in reached if with_cards or name != sourcetypes.CARD]
    audit_log.record(Action.TESTED, account, detail=f"by payments: {', '.join(source_types)}")
    for source_type in source_types:
        can = provider.capabilities(source_type)
        assert can is not None  # nosec B101 # for the type checker: only what it takes is tried
        for end in (Operation.Kind.REFUND, Operation.Kind.VOID) if can.hold else (Operation.Kind.REFUND,):
            TrialPayment(account, _payment(source_type, can, card), can, report, pay).run(end)


def _source_types(account: ProviderAccount, provider: Provider) -> list[str]:
    """Those that it takes and that routes lead to, or in test mode those that the merchant takes."""
    if account.livemode:
        enabled = set(account.routes.filter(enabled=True).values_list("source_type", flat=True))
    else:
        switches = account.merchant.payment_method_settings
        enabled = {name for name in sourcetypes.NAMES if is_enabled(switches, name, account.livemode)}
    return [name for name in sourcetypes.NAMES if name in enabled and provider.capabilities(name)]


def _payment(source_type: str, can: Capabilities, card: CardData | None) -> Payment:
    # A small amount within the limits, in pesos where they are taken.
    limits = can.amounts or {DEFAULT_CURRENCY: (SMALL, SMALL)}
    currency = DEFAULT_CURRENCY if DEFAULT_CURRENCY in limits else next(iter(limits))
    smallest, largest = limits[currency]
    is_https = settings.PUBLIC_URL.startswith("https://")
    return Payment(
        reference=trial_reference(),
        amount=min(max(smallest, SMALL), largest),
        currency=currency,
        source_type=source_type,
        capture=not can.hold,
        authenticate=True,
        return_url=f"{settings.PUBLIC_URL}/" if is_https else ELSEWHERE,
        description="Test of a connection",
        statement_descriptor="TEST",
        card=card if source_type == sourcetypes.CARD else None,
        asked_at=clock.now(),
        payer=NOBODY,
    )
