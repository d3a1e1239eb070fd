import io
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from payments.domain.merchants.merchants import NewMerchant
from payments.domain.merchants.terms import set_payment_method
from payments.domain.routing.provider_accounts import open_account
from payments.models import AuditEntry, Charge, ProviderAccount, Route
from payments.providers.accounts import AccountField, Connector
from payments.providers.base import (
    ActionRequired,
    Capabilities,
    CardData,
    Declined,
    Operation,
    Outcome,
    Payment,
    Provider,
    Rejected,
    Unknown,
)
from payments.providers.registry import CONNECTORS
from payments.providers.simulator.books import approve
from payments.providers.simulator.connector import Simulator
from payments.providers.simulator.models import Entry, SimulatedPayment
from tests.commands.conftest import Manage
from tests.providers.contract.conftest import OVER_THE_WIRE

UNSEEN = "nobody-may-read-this"
CARD = CardData("4000000000003055", "12", "2039", "Juan dela Cruz", "123")
CARD_STEPS = ["credentials", *("create", "capture", "refund"), *("create", "void")]
WALLET_STEPS = ["create", "look up", "cancel"]


class Near(Simulator):
    """A simulator with accounts and two source types, whose answers a test can replace."""

    def __init__(self) -> None:
        self.instead: dict[str, Any] = {}

    def capabilities(self, source_type: str) -> Capabilities | None:
        return super().capabilities(source_type) if source_type in ("card", "gcash") else None

    def create_payment(self, payment: Payment) -> Outcome:
        outcome = super().create_payment(payment)
        return self.instead["create"](outcome) if "create" in self.instead else outcome

    def capture(self, operation: Operation) -> Outcome:
        return self.instead.get("capture") or super().capture(operation)

    def test_credentials(self) -> Outcome:
        return self.instead.get("credentials") or super().test_credentials()


@pytest.fixture
def near() -> Iterator[Near]:
    """Install a provider for a test."""
    provider = Near()
    CONNECTORS["near"] = installed(provider)
    yield provider
    del CONNECTORS["near"]


def installed(provider: Provider) -> Connector:
    """Return a connector whose accounts all use `provider`."""
    return Connector("near", "Near", (AccountField("key", "Key"),), (), lambda _: provider, test_card=CARD)


def opened(shop: NewMerchant, livemode: bool) -> ProviderAccount:
    return open_account(shop.merchant, livemode, "near", "Ours", {"key": UNSEEN}, {})


@pytest.fixture
def account(near: Near, shop: NewMerchant) -> ProviderAccount:
    """Return an account of test mode, with sandbox credentials."""
    return opened(shop, False)


@pytest.fixture
def live_account(near: Near, shop: NewMerchant) -> ProviderAccount:
    """Return an account of live mode, with routes for cards and a wallet."""
    account = opened(shop, True)
    for source_type in ("card", "gcash"):
        Route.objects.create(account=account, source_type=source_type)
    return account


def checked(account: ProviderAccount, *arguments: str) -> tuple[str, str]:
    """Run the command; return its output and its error."""
    output = io.StringIO()
    try:
        call_command("check_provider", account.public_id, *arguments, stdout=output)
    except CommandError as fault:
        return output.getvalue(), str(fault)
    return output.getvalue(), ""


def steps(printed: str) -> list[str]:
    """Return the names of the printed steps."""
    return [line[12:24].strip() for line in printed.splitlines() if line[:2] in ("  ", "! ")]


def answering(monkeypatch: pytest.MonkeyPatch, *lines: str, at_terminal: bool = False) -> None:
    """Enter these lines at the terminal."""
    typed = io.StringIO("".join(f"{line}\n" for line in lines))
    typed.isatty = lambda: at_terminal
    monkeypatch.setattr(sys, "stdin", typed)


@pytest.mark.long
@pytest.mark.parametrize("name", OVER_THE_WIRE)
def test_every_type_of_a_real_provider_goes_well_at_its_fake(name: str, shop: NewMerchant) -> None:
    with OVER_THE_WIRE[name]() as bench:
        CONNECTORS["near"] = installed(bench.connector)
        printed, complaint = checked(opened(shop, False))
        del CONNECTORS["near"]
    assert complaint == "", printed
    assert steps(printed)[: len(CARD_STEPS)] == CARD_STEPS


def test_each_type_is_paid_and_undone(account: ProviderAccount) -> None:
    printed, complaint = checked(account)
    assert complaint == ""
    assert steps(printed) == [*CARD_STEPS, *WALLET_STEPS]
    assert printed.endswith("All 9 steps went well.\n")
    moved = sum(entry.amount if entry.kind == Entry.Kind.CAPTURE else 0 for entry in Entry.objects.all())
    returned = sum(entry.amount if entry.kind == Entry.Kind.REFUND else 0 for entry in Entry.objects.all())
    assert moved == returned == 2_000


def test_nothing_of_it_is_in_our_own_books(account: ProviderAccount) -> None:
    checked(account)
    assert not Charge.objects.exists()


def test_what_the_merchant_switched_off_is_not_tried(account: ProviderAccount, shop: NewMerchant) -> None:
    set_payment_method(shop.merchant, "card", False)
    assert steps(checked(account)[0]) == ["credentials", *WALLET_STEPS]


def test_the_operator_can_pay_from_the_terminal(account: ProviderAccount, monkeypatch: pytest.MonkeyPatch) -> None:
    def paid(outcome: Outcome) -> Outcome:
        if isinstance(outcome, ActionRequired):
            approve(SimulatedPayment.objects.get(state=SimulatedPayment.State.AWAITING), send_message=False)
        return outcome

    CONNECTORS["near"].connect(None).instead["create"] = paid
    answering(monkeypatch, "https://example.com/?redirectResult=abc", at_terminal=True)
    assert steps(checked(account)[0])[len(CARD_STEPS) :] == ["create", "continue", "refund"]


def test_the_operator_need_not_pay_from_the_terminal(account: ProviderAccount, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, "", at_terminal=True)
    assert steps(checked(account)[0])[len(CARD_STEPS) :] == WALLET_STEPS


def test_what_the_provider_refuses_is_shown_and_counted(account: ProviderAccount, near: Near) -> None:
    near.instead["create"] = lambda _: Declined("card_declined", "ref_1", "51", "Not this card 4242424242424242")
    printed, complaint = checked(account)
    assert "! card      create      declined, card_declined ref_1 (51: Not this card [redacted])\n" in printed
    assert complaint == "3 of 4 steps did not go well."


def test_a_page_is_shown_with_its_whole_address(account: ProviderAccount, near: Near) -> None:
    near.instead["create"] = lambda _: ActionRequired("8836183819713023", "https://psp.example/8836183819713023")
    assert "the payer must act 8836183819713023 https://psp.example/8836183819713023\n" in checked(account)[0]


def test_an_answer_that_was_lost_is_looked_up(account: ProviderAccount, near: Near) -> None:
    near.instead["create"] = lambda outcome: Unknown("no answer")
    printed, complaint = checked(account)
    assert steps(printed)[:4] == ["credentials", "create", "look up", "capture"]
    assert complaint == "3 of 12 steps did not go well."


def test_an_exception_in_a_connector_is_an_unknown_outcome(account: ProviderAccount, near: Near) -> None:
    near.instead["create"] = lambda _: 1 / 0
    assert "create      unknown, it may have happened (ZeroDivisionError)" in checked(account)[0]


def test_without_good_credentials_nothing_is_paid(account: ProviderAccount, near: Near) -> None:
    near.instead["credentials"] = Rejected("401", "Who are you?")
    assert steps(checked(account)[0]) == ["credentials"]
    assert not SimulatedPayment.objects.exists()


def test_no_secret_is_printed(account: ProviderAccount) -> None:
    printed, _ = checked(account)
    assert UNSEEN not in printed
    assert CARD.number not in printed


def test_the_audit_log_has_the_steps(account: ProviderAccount) -> None:
    checked(account)
    assert [entry.detail for entry in AuditEntry.objects.filter(action="tested").order_by("id")] == [
        "Approved",
        "by payments: card, gcash",
    ]


def test_of_a_live_account_the_routes_are_tried_but_for_cards(
    live_account: ProviderAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, live_account.public_id)
    assert steps(checked(live_account, "--live")[0]) == ["credentials", *WALLET_STEPS]


@pytest.mark.parametrize("routes", ["none", "disabled", "of a type that it does not take"])
def test_a_live_account_that_no_payment_can_reach_is_a_fault(
    near: Near, shop: NewMerchant, monkeypatch: pytest.MonkeyPatch, routes: str
) -> None:
    account = opened(shop, True)
    if routes != "none":
        source_type = "card" if routes == "disabled" else "qrph"
        Route.objects.create(account=account, source_type=source_type, enabled=routes != "disabled")
    answering(monkeypatch, account.public_id)
    printed, complaint = checked(account, "--live")
    assert steps(printed) == ["credentials"]
    assert complaint.startswith("No payment can reach this account: no route that is enabled leads to it")
    assert "\n" not in complaint


@pytest.mark.usefixtures("near")
def test_a_live_account_that_cards_alone_can_reach_is_well(shop: NewMerchant, monkeypatch: pytest.MonkeyPatch) -> None:
    account = opened(shop, True)
    Route.objects.create(account=account, source_type="card")
    answering(monkeypatch, account.public_id)
    assert checked(account, "--live")[1] == ""


@pytest.mark.parametrize("typed", [[], ["yes"], [""]])
def test_real_money_moves_only_when_the_account_is_named_twice(
    live_account: ProviderAccount, monkeypatch: pytest.MonkeyPatch, typed: list[str]
) -> None:
    answering(monkeypatch, *typed)
    assert checked(live_account, "--live") == ("", "That is not the account's ID, so nothing was done.")
    assert not SimulatedPayment.objects.exists()


def test_a_live_account_is_refused_without_saying_so(live_account: ProviderAccount) -> None:
    assert checked(live_account)[1] == "--live is for accounts of live mode, and for them alone."


def test_a_test_account_is_refused_as_a_live_one(account: ProviderAccount) -> None:
    assert checked(account, "--live")[1] == "--live is for accounts of live mode, and for them alone."


@pytest.mark.parametrize("name", ["pac_00000000000000000000000000000000", "mer_1", ""])
def test_an_account_that_is_not_there_is_refused(manage: Manage, name: str) -> None:
    with pytest.raises(CommandError, match=f"There is no provider account '{name}'"):
        manage("check_provider", name)


def test_a_missing_account_lists_the_accounts(account: ProviderAccount, manage: Manage) -> None:
    with pytest.raises(CommandError, match=f"{account.public_id}  near, test mode: Ours of Sari Store"):
        manage("check_provider", "Ours")


def test_a_hold_that_is_not_captured_is_released(near: Near, account: ProviderAccount) -> None:
    near.instead["capture"] = Declined("processing_error", "", "NOT_NOW")
    printed, complaint = checked(account)
    assert steps(printed)[:4] == ["credentials", "create", "capture", "void"]
    assert complaint.startswith("1 of")
    assert not SimulatedPayment.objects.filter(state="held").exists()
