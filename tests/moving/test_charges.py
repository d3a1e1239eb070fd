"""The first charges of cards that came from another provider name what the networks want to be named."""

import json
from dataclasses import replace
from typing import Any

import pytest

from payments.domain.checkout.collect import collect_due
from payments.providers.base import Approved, OnFile, Payment
from tests.charging.doubles import Double, provider
from tests.checkout.cast import collected, shown
from tests.client import Api, error_of, made
from tests.moving.conftest import Import
from tests.moving.files import anna, csv_of
from tests.providers.adyen.bench import adyen_bench
from tests.providers.bench import CARD, asked
from tests.providers.xendit.bench import xendit_bench

pytestmark = pytest.mark.django_db
REFERENCE = "MCC1234560321"
MASTERCARD, JCB = ({"raw_card_number": each, "card_scheme": ""} for each in ("5555555555554444", "3566002020360505"))


def test_a_charge_without_the_payer_carries_the_reference_that_came(api: Api, bring: Import) -> None:
    payments: list[Payment] = []
    source = bring(csv_of(anna())).row(2)["source"]

    with provider(Double(create_payment=lambda do, payment: payments.append(payment) or do())):
        charge = api.charge_source(source)

    [payment] = payments
    assert charge["status"] == "succeeded"
    assert (payment.payer_absent, payment.on_file, payment.network_reference) == (True, OnFile.KEPT, REFERENCE)


@pytest.mark.parametrize(("card", "is_refused"), [({}, True), (MASTERCARD, True), (JCB, False)])
def test_one_without_a_reference_is_charged_with_its_payer_first_where_its_scheme_wants_that(
    api: Api, bring: Import, card: dict[str, str], is_refused: bool
) -> None:
    source = bring(csv_of(anna(original_transaction_id="", **card))).row(2)["source"]
    order = {"amount": 10_000, "source": source, "description": "A box"}

    response = api.post("/charges/", order)

    if is_refused:
        assert (response.status_code, error_of(response)["code"]) == (409, "reference_missing")
        made(api.post("/charges/", order | {"initiator": "customer", "require_auth": False}))
        response = api.post("/charges/", order)
    assert made(response)["status"] == "succeeded"


def test_a_request_stops_to_collect_where_the_payer_must_pay_first(api: Api, bring: Import) -> None:
    row = bring(csv_of(anna(original_transaction_id=""))).row(2)
    request = collected(api, customer=row["customer"], source=row["source"])
    collect_due()
    assert shown(api, request)["collect"]["ended_because"] == "advice"


def kept(bench: Any, **members: Any) -> Payment:
    return asked(bench, on_file=OnFile.KEPT, payer_absent=True, card=replace(CARD, cvc=None), **members)


def test_adyen_demands_it_and_gets_it() -> None:
    with adyen_bench() as bench:
        payments = kept(bench, network_reference=REFERENCE), kept(bench)
        outcomes = [bench.connector.create_payment(payment) for payment in payments]
        body = bench.fake.books.payments[payments[0].reference].body
    assert [isinstance(outcome, Approved) for outcome in outcomes] == [True, False]
    assert body["additionalData"]["networkTxReference"] == REFERENCE


def test_xendit_gets_it_beside_the_word_for_a_later_payment() -> None:
    with xendit_bench() as bench:
        for reference in (REFERENCE, ""):
            bench.connector.create_payment(kept(bench, network_reference=reference))
        first, second = (json.loads(request.body) for request in bench.fake.requests)
    assert first["channel_properties"]["transaction_sequence"] == "SUBSEQUENT"
    assert first["metadata"] == {"network_reference": REFERENCE}
    assert "metadata" not in second
