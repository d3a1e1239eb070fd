"""After a restore, what Xendit did for an account since is booked or left to operators."""

import io
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import override_settings

from payments import clock
from payments.domain.merchants.merchants import NewMerchant, create_merchant
from payments.domain.routing import provider_accounts
from payments.models import (
    Attempt,
    Charge,
    Merchant,
    ProviderAccount,
    ReconciliationItem,
    ReconciliationRun,
    ReportLine,
)
from payments.providers.xendit.lookups import records
from tests.provider_events.live.world import World, adyen_world, xendit_world
from tests.providers.bench import Spoilt
from tests.providers.xendit import shapes
from tests.providers.xendit.books import Refund
from tests.reconciliation.factories import kinds
from tests.reconciliation.live.reports import reconcile, report
from tests.restore.command import on, recovered
from tests.restore.restored import lost

pytestmark = pytest.mark.django_db

LISTED_REFUND = shapes.listed_refund


@pytest.fixture
def world(shop: NewMerchant) -> Iterator[World]:
    """Yield a shop in live mode with an account at Xendit's fake, which no restore changes."""
    with xendit_world(shop) as made, override_settings(RECONCILIATION_MARGIN_MINUTES=0):
        yield made


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "PAUSES_SECONDS", (0.0, 0.0))


def opened(world: World, merchant: Merchant, title: str, **credentials: str) -> ProviderAccount:
    """Open another account at the same fake."""
    return provider_accounts.open_account(merchant, True, "xendit", title, {**world.credentials, **credentials}, {})


def card(world: World, *, capture: bool = True) -> dict[str, Any]:
    """Charge a card that is approved at once."""
    source = world.card_source(world.bench.card())
    return world.live.charge_source(source, capture=capture)


def test_nothing_is_booked_where_nothing_was_lost(world: World) -> None:
    charge = card(world)
    # Test mode moves no money.
    provider_accounts.open_account(Merchant.objects.get(), False, "xendit", "Trial", world.credentials, {})
    with lost() as moment:
        pass
    asked = len(world.bench.fake.requests)
    assert "booked" not in recovered(moment)
    assert world.live.read(charge)["amount_captured"] == 10_000
    assert not ReportLine.objects.filter(provider="xendit").exists()
    # What is known here costs no lookup but the list's own.
    assert [each.path.partition("?")[0] for each in world.bench.fake.requests[asked:]] == ["/transactions"]


def test_a_captured_charge_that_nobody_knows_here_is_an_item_with_its_amount(world: World) -> None:
    with lost() as moment:
        card(world)
    assert "xendit, “Not in ledger”: 1" in recovered(moment, ends_with=1)
    line = ReconciliationItem.objects.get().line
    [request] = world.bench.fake.books.requests.values()
    assert line is not None
    assert (line.reference, line.provider_ref, line.kind) == (request.reference, request.id, "capture")
    assert (line.amount, line.word) == (10_000, "capture, not known here")
    assert not Charge.objects.exists()


def test_a_capture_of_a_hold_is_booked_with_its_amount_though_xendit_does_not_name_it(world: World) -> None:
    charge = card(world, capture=False)
    with lost() as moment:
        on(world.live, charge, "capture", {"amount": 6_000})
    assert not world.live.read(charge)["captured"]
    assert "booked: capture Approved 1" in " ".join(recovered(moment).split())
    assert world.live.read(charge)["amount_captured"] == 6_000
    assert sum(each.path.endswith("/capture") for each in world.bench.fake.requests) == 1


def test_a_refund_is_booked_by_its_reference_and_asked_for_once(world: World) -> None:
    charge = card(world)
    with lost() as moment:
        on(world.live, charge, "refund", {"amount": 4_000})
        world.happen()
    assert "booked: refund Approved" in recovered(moment)
    assert world.live.read(charge)["amount_refunded"] == 4_000
    assert len(world.bench.fake.books.refunds) == 1
    assert sum((each.method, each.path) == ("POST", "/refunds") for each in world.bench.fake.requests) == 1


def test_a_refund_that_is_listed_under_its_payments_name_is_not_asked_for_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def listed(refund: Refund) -> dict[str, Any]:
        return LISTED_REFUND(refund) | {"reference_id": refund.of.reference}

    charge = card(world)
    with lost() as moment:
        on(world.live, charge, "refund", {"amount": 4_000})
        world.happen()
    monkeypatch.setattr(shapes, "listed_refund", listed)
    assert "booked: refund waiting" in recovered(moment)
    assert sum((each.method, each.path) == ("POST", "/refunds") for each in world.bench.fake.requests) == 1


def test_a_refund_that_is_on_its_way_waits_for_its_webhook(world: World) -> None:
    charge = card(world)
    with lost() as moment:
        on(world.live, charge, "refund", {"amount": 4_000})
    assert "booked: refund waiting" in recovered(moment)
    world.happen()
    assert world.live.read(charge)["amount_refunded"] == 4_000


def test_a_capture_and_its_refund_are_both_booked(world: World) -> None:
    charge = card(world, capture=False)
    with lost() as moment:
        on(world.live, charge, "capture")
        on(world.live, charge, "refund", {"amount": 4_000})
        world.happen()
    recovered(moment)
    found = world.live.read(charge)
    assert (found["amount_captured"], found["amount_refunded"]) == (10_000, 4_000)


def test_a_refund_that_failed_in_the_lost_time_fails_here(world: World) -> None:
    charge = card(world)
    on(world.live, charge, "refund", {"amount": 4_000})
    world.happen()
    with lost() as moment:
        [refund] = world.bench.fake.books.refunds.values()
        world.bench.fake.books.fail_refund(refund)
    recovered(moment)
    assert world.live.read(charge)["amount_refunded"] == 0


def test_a_failed_refund_of_a_charge_that_nobody_knows_moved_nothing_and_is_no_item(world: World) -> None:
    with lost() as moment:
        on(world.live, card(world), "refund", {"amount": 4_000})
        [refund] = world.bench.fake.books.refunds.values()
        world.bench.fake.books.fail_refund(refund)
    recovered(moment, ends_with=1)
    assert [item.line.kind for item in ReconciliationItem.objects.all() if item.line] == ["capture"]


@pytest.mark.long
@pytest.mark.parametrize("kind", ["challenged", "wallet"])
def test_a_payment_whose_payer_paid_in_the_lost_time_is_booked(world: World, kind: str) -> None:
    if kind == "wallet":
        charge = world.awaited()
    else:
        source = world.card_source(world.bench.card(challenged=True))
        charge = world.live.charge_source(source)
    with lost() as moment:
        world.bench.pay(world.payment)
    assert world.live.read(charge)["status"] == "pending"
    recovered(moment)
    assert world.live.read(charge)["status"] == "succeeded"


def test_a_payment_whose_answer_was_lost_by_the_restore_is_found_by_the_list(world: World) -> None:
    charge = world.awaited()
    payment = world.payment
    Attempt.objects.update(state="unknown", provider_ref="")
    with lost() as moment:
        world.bench.pay(payment)
    recovered(moment)
    assert world.live.read(charge)["status"] == "succeeded"
    assert Attempt.objects.get().provider_ref == payment.provider_ref


def test_a_hold_that_was_asked_for_before_and_captured_in_part_is_booked_in_part(world: World) -> None:
    source = world.card_source(world.bench.card(challenged=True))
    charge = world.live.charge_source(source, capture=False)
    with lost() as moment:
        world.bench.pay(world.payment)
        world.happen()
        on(world.live, charge, "capture", {"amount": 6_000})
    recovered(moment)
    assert world.live.read(charge)["amount_captured"] == 6_000


def test_a_capture_of_what_was_released_here_is_left_to_operators(world: World) -> None:
    charge = card(world, capture=False)
    with lost() as moment:
        on(world.live, charge, "capture")
    [request] = world.bench.fake.books.requests.values()
    request.status = "AUTHORIZED"
    on(world.live, charge, "void")
    request.status = "SUCCEEDED"
    recovered(moment, ends_with=1)
    assert kinds() == ["missing_here"]
    assert world.live.read(charge)["status"] == "voided"


@pytest.mark.long
def test_a_second_run_changes_nothing(world: World) -> None:
    held, taken = card(world, capture=False), card(world)
    with lost() as moment:
        on(world.live, held, "capture")
        on(world.live, taken, "refund", {"amount": 4_000})
        card(world)
        world.happen()
    recovered(moment, ends_with=1)
    attempts, items = Attempt.objects.count(), ReconciliationItem.objects.count()
    assert "booked" not in recovered(moment, ends_with=1)
    assert (Attempt.objects.count(), ReconciliationItem.objects.count()) == (attempts, items) == (4, 1)


def test_a_list_is_no_report_of_a_time(world: World) -> None:
    with lost() as moment:
        card(world)
    recovered(moment, ends_with=1)
    run = ReconciliationRun.objects.get(provider="xendit")
    assert run.covers_from == run.covers_to


def test_what_a_report_has_said_is_one_item_and_not_two(world: World, tmp_path: Path) -> None:
    with lost() as moment:
        card(world)
    [request] = world.bench.fake.books.requests.values()
    reconcile(tmp_path, "xendit", {"Reference": request.reference, "Product ID": request.payment_id})
    recovered(moment)
    assert kinds() == ["missing_here"]


def test_an_account_speaks_for_its_own_payments_alone(world: World) -> None:
    held = card(world, capture=False)
    opened(world, create_merchant("Other Store").merchant, "Main")
    with lost() as moment:
        on(world.live, held, "capture")
    unknown = {"secret_key": "xnd_development_unknown"}
    provider_accounts.change_account(world.account, "Main", True, unknown, {})
    recovered(moment, ends_with=1)
    assert not world.live.read(held)["captured"]
    assert kinds() == ["missing_here"]


@pytest.mark.usefixtures("impatient")
def test_an_account_that_cannot_be_asked_is_named_and_the_others_are_asked(world: World) -> None:
    held = card(world, capture=False)
    merchant = world.account.merchant
    refused = opened(world, merchant, "Refused", secret_key="xnd_development_unknown")
    sealed = opened(world, merchant, "Sealed")
    ProviderAccount.objects.filter(id=sealed.id).update(sealed_credentials=b"-")
    with lost() as moment:
        on(world.live, held, "capture")
    output = recovered(moment, ends_with=1)
    unread = "what it did was not read to the end"
    assert f"{refused.public_id}: {unread}, it refused: INVALID_API_KEY; run this again" in output
    assert f"{sealed.public_id}: {unread}, its credentials cannot be opened; run this again" in output
    assert world.live.read(held)["captured"]


def test_a_list_without_an_end_is_asked_for_in_parts(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    with lost() as moment:
        card(world)
    monkeypatch.setattr(records, "PAGES_MAX", 0)
    assert "it lists more than 0 movements: ask for a shorter time" in recovered(moment, ends_with=1)


@pytest.mark.usefixtures("impatient")
def test_a_provider_that_does_not_answer_is_asked_again(world: World) -> None:
    held = card(world, capture=False)
    with lost() as moment:
        on(world.live, held, "capture")
    world.spoil_next(Spoilt.DOWN)
    recovered(moment)
    assert world.live.read(held)["captured"]


def read_in(folder: Path, since: datetime, *rows: dict[str, str]) -> None:
    """Reconcile Adyen's settlement details report with these rows, as the guide has it."""
    times = ["--from", clock.iso(since), "--to", clock.iso(clock.now())]
    call_command("reconcile", str(report(folder, "adyen", *rows)), "--mapping", "adyen", *times, stdout=io.StringIO())


@pytest.mark.long
def test_what_adyen_did_is_left_to_operators_until_its_report_is_read_and_then_as_items(
    shop: NewMerchant, tmp_path: Path
) -> None:
    with adyen_world(shop) as world, override_settings(RECONCILIATION_MARGIN_MINUTES=0):
        charge = card(world)
        world.happen()
        with lost() as moment:
            card(world)
            lost_payment = world.payment.reference
            world.happen()
            on(world.live, charge, "refund", {"amount": 4_000})
            lost_refund = Attempt.objects.get(kind="refund").reference
        unread = "adyen: it lists nothing when asked, and its settlement details report of this time is not read"
        output = recovered(moment, ends_with=1)
        assert unread in output
        assert "booked" not in output
        booked = {"Creation Date": f"{clock.now():%Y-%m-%d %H:%M:%S}", "TimeZone": "UTC"}
        paid = booked | {"Merchant Reference": lost_payment}
        back = {"Type": "Refunded", "Gross Credit (GC)": "", "Gross Debit (GC)": "40.00"}
        refunded = booked | back | {"Modification Merchant Reference": f"refund-{lost_refund}"}
        with pytest.raises(CommandError, match="Open differences: 2"):
            read_in(tmp_path, moment, paid, refunded)
        assert "adyen, “Not in ledger”: 2, under Reconciliation items" in recovered(moment, ends_with=1)
        assert world.live.read(charge)["amount_refunded"] == 0
    lines = [item.line for item in ReconciliationItem.objects.all()]
    assert {(line.reference, line.amount) for line in lines if line} == {(lost_payment, 10_000), (lost_refund, -4_000)}
