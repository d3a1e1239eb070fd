import pytest
from django.db.models import Model
from django.test import Client

from customers.models import Customer
from payments.models import ApiKey, Attempt, Card, Charge, Event, IdempotencyRecord, Merchant, Refund, Source
from payments.providers.simulator.models import Entry, SimulatedOperation, SimulatedPayment
from payments.search.sweep import rebuild
from tests.admin.conftest import IDEMPOTENCY_KEY, House, text_of
from tests.admin.test_pages import list_of, page_of
from tests.client import Api
from tests.factories import ChargeFactory, MerchantFactory

pytestmark = pytest.mark.long

# Which IDs find the rows of a model: by prefix; `uuid` is the raw one of a charge.
FOUND_BY = [
    (Charge, ["ch", "src", "card", "re", "mer", "evt", "req", "uuid", "last4"]),
    (Source, ["src", "card", "ch", "re", "mer", "evt", "req", "uuid", "last4"]),
    (Refund, ["re", "ch", "src", "mer", "evt", "uuid", "last4"]),
    (Card, ["card", "src", "ch", "last4"]),
    (Attempt, ["ch", "re", "src", "mer", "evt", "req", "uuid", "last4"]),
    (Customer, ["cus", "mer"]),
    (Merchant, ["mer"]),
    (ApiKey, ["mer"]),
]


def found(operator: Client, model: type[Model], term: str, mode: str = "test") -> str:
    modes = {"mode": mode} if model is ApiKey else {}
    return text_of(operator.get(list_of(model), {"q": term, **modes}))


@pytest.mark.parametrize(("model", "prefixes"), FOUND_BY, ids=[model.__name__ for model, _ in FOUND_BY])
def test_an_id_finds_what_it_is_about(model: type[Model], prefixes: list[str], house: House, operator: Client) -> None:
    # The refund's attempt is found by its charge too.
    row = model._default_manager.latest("pk")
    rebuild()
    for prefix in prefixes:
        assert page_of(row) in found(operator, model, f" {house.id_of(prefix)} ", mode="live"), prefix


EVENTS = [
    ("evt", "charge.created"),
    ("ch", "charge.created"),
    ("uuid", "charge.created"),
    ("req", "charge.created"),
    ("req", "charge.succeeded"),
    ("req", "source.updated"),
    ("mer", "source.created"),
    ("src", "source.created"),
    ("re", "refund.created"),
    ("cus", "customer.created"),
]


def test_an_id_finds_the_events_about_it(house: House, operator: Client) -> None:
    for prefix, event_type in EVENTS:
        event = Event.objects.get(type=event_type)
        assert page_of(event) in found(operator, Event, house.id_of(prefix)), (prefix, event_type)


def test_a_request_finds_only_the_events_that_it_caused(house: House, operator: Client) -> None:
    text = found(operator, Event, house.id_of("req"))
    assert page_of(Event.objects.get(type="source.created")) not in text
    assert page_of(Event.objects.get(type="refund.created")) not in text


def test_a_references_and_keys_as_pasted_find_their_rows(house: House, operator: Client) -> None:
    attempt = Attempt.objects.earliest("pk")
    payment = SimulatedPayment.objects.get()
    pasted = [
        (IdempotencyRecord, IDEMPOTENCY_KEY, IdempotencyRecord.objects.get()),
        (Attempt, attempt.reference, attempt),
        (Attempt, attempt.provider_ref, attempt),
        (SimulatedPayment, attempt.reference, payment),
        (Entry, f"sp_{payment.pk.hex}", Entry.objects.earliest("pk")),
        (SimulatedOperation, f"sp_{payment.pk.hex}", SimulatedOperation.objects.get()),
        (ApiKey, house.shop.keys["sk_test"][-4:], ApiKey.objects.get(kind="secret", livemode=False)),
    ]
    for model, text, row in pasted:
        assert page_of(row) in found(operator, model, text), (model, text)


def test_an_id_finds_nothing_else(house: House, operator: Client, api: Api) -> None:
    other = ChargeFactory(is_held=True)
    for prefix in ("ch", "src", "re", "mer", "evt", "req", "uuid"):
        assert page_of(other) not in found(operator, Charge, house.id_of(prefix)), prefix


@pytest.mark.parametrize("term", ["Sari", "sari st", "0190", "%", "ch_", "x" * 200, "9" * 40])
def test_any_other_text_is_searched_for_as_text(term: str, operator: Client) -> None:
    merchant = MerchantFactory(title="Sari Store 0190 100% ch_" + "x" * 20)
    assert (page_of(merchant) in found(operator, Merchant, term)) == (len(term) < 20)


@pytest.mark.parametrize(
    ("choice", "stages"),
    [
        ("held", ["held"]),
        ("captured", ["captured", "part_refunded", "refunded"]),
        ("awaiting", ["awaiting_payer"]),
        ("unknown", ["unknown"]),
        ("refunded", ["refunded"]),
        ("part_refunded", ["part_refunded"]),
        ("declined", ["failed"]),
        ("abandoned", []),
        ("voided", ["voided"]),
        ("operation", []),
        ("going_back", []),
        ("reversed_late", []),
    ],
)
def test_charges_are_filtered_by_where_the_money_is(choice: str, stages: list[str], operator: Client) -> None:
    names = ["held", "captured", "part_refunded", "refunded", "failed", "voided", "unknown", "awaiting_payer"]
    charges = {name: ChargeFactory(**{f"is_{name}": True}) for name in names}
    text = text_of(operator.get(list_of(Charge), {"money": choice}))
    assert [name for name, charge in charges.items() if page_of(charge) in text] == stages


def test_charges_are_filtered_by_mode_and_age(operator: Client) -> None:
    live, test = ChargeFactory(livemode=True), ChargeFactory()
    text = text_of(operator.get(list_of(Charge), {"mode": "live", "since": "2020-01-01"}))
    assert page_of(live) in text
    assert page_of(test) not in text


def test_what_a_search_finds_has_an_address_to_go_back_to(operator: Client, house: House) -> None:
    answer = operator.post("/admin/find/", {"q": "juan cruz"})
    assert (answer.status_code, answer["Location"]) == (302, "/admin/find/?q=juan+cruz")
    assert operator.get(answer["Location"]).status_code == 200


def test_a_card_number_is_in_no_address_of_a_search(operator: Client, house: House) -> None:
    assert operator.post("/admin/find/", {"q": "4242 4242 4242 4242"})["Location"] == "/admin/"
