"""What a provider lists that it did, where it lists anything: the same at every provider."""

from datetime import timedelta

from payments import clock
from payments.providers.done_there import DoneThere, KeepsRecords
from payments.providers.registry import CONNECTORS
from tests.providers.bench import AMOUNT, Bench, operated, operation, taken

LISTING = {"simulator", *(name for name, connector in CONNECTORS.items() if connector.keeps_records)}


def done(bench: Bench) -> list[DoneThere]:
    """Return what was done just now."""
    connector = bench.connector
    assert isinstance(connector, KeepsRecords)
    return list(connector.done_between(clock.now() - timedelta(minutes=1), clock.now() + timedelta(seconds=1)))


def test_the_registry_knows_which_connectors_list_what_their_provider_did(bench: Bench) -> None:
    assert isinstance(bench.connector, KeepsRecords) == (bench.connector.name in LISTING)


def test_money_that_was_taken_is_listed_under_its_payments_name(listing_bench: Bench) -> None:
    payment = taken(listing_bench)
    [found] = [each for each in done(listing_bench) if each.payment_reference == payment.reference]
    assert (found.amount, found.currency, found.reference or found.payment_reference) == (
        AMOUNT,
        "PHP",
        payment.reference,
    )


def test_a_capture_and_a_refund_of_a_part_are_listed_in_their_order(listing_bench: Bench) -> None:
    payment = taken(listing_bench, capture=False)
    operated(listing_bench, operation("capture", payment, amount=8_000))
    refund = operation("refund", payment, amount=3_000)
    operated(listing_bench, refund)
    found = [each for each in done(listing_bench) if each.payment_reference == payment.reference]
    assert [(each.kind, each.amount) for each in found if each.kind != "authorize"] == [
        ("capture", 8_000),
        ("refund", 3_000),
    ]
    assert found[-1].reference == refund.reference
