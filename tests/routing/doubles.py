"""Providers of live mode around the real simulator and its books, each reached by accounts of merchants."""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from payments.domain.routing import provider_accounts
from payments.models import Merchant, ProviderAccount, Route
from payments.providers import registry
from payments.providers.accounts import Account, AccountField, Connector
from payments.providers.base import Approved, Capabilities, Outcome, Payment, Provider, Rejected
from payments.providers.simulator.connector import Simulator

KEY = "north-secret-key-0123456789"


class Psp(Simulator):
    """Answers the next payments by what is in `answers`, if there is anything, and the others as the simulator does."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.able = Capabilities(hold=True)
        self.answers: deque[Outcome] = deque()
        self.asked: list[Payment] = []
        self.accounts: list[Account] = []

    def reached_by(self, account: Account) -> Provider:
        self.accounts.append(account)
        return self

    def capabilities(self, source_type: str) -> Capabilities | None:
        return self.able if super().capabilities(source_type) else None

    def create_payment(self, payment: Payment) -> Outcome:
        self.asked.append(payment)
        return self.answers.popleft() if self.answers else super().create_payment(payment)

    def test_credentials(self) -> Outcome:
        is_known = self.accounts[-1].credentials["key"] == KEY
        return Approved("") if is_known else Rejected("unauthorized", "There is no such key.")


@contextmanager
def installed(psp: Psp) -> Iterator[Psp]:
    """Has kaha know a connector to `psp`."""
    fields = (AccountField("key", "Secret key"), AccountField("token", "Webhook token", required=False))
    settings = (AccountField("branch", "Branch", required=False),)
    title = f"{psp.name.capitalize()} Payments"
    registry.CONNECTORS[psp.name] = Connector(psp.name, title, fields, settings, psp.reached_by)
    try:
        yield psp
    finally:
        del registry.CONNECTORS[psp.name]


def account_at(psp: Psp, merchant: Merchant, livemode: bool = True, title: str = "") -> ProviderAccount:
    return provider_accounts.open_account(merchant, livemode, psp.name, title or f"Our {psp.name}", {"key": KEY}, {})


def route_to(account: ProviderAccount, source_type: str = "card", position: int = 1, **columns: object) -> Route:
    return Route.objects.create(account=account, source_type=source_type, position=position, **columns)
