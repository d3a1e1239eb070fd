"""A blocked card or e-mail address is declined without asking a provider and without a reason."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from payments import clock, failpoints
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.risk import blocks
from payments.failpoints import Failpoint
from payments.models import Attempt, AuditEntry, Block, Source
from payments.providers.simulator.models import SimulatedPayment
from tests.charging.elapsed_time import let_time_pass, recover
from tests.checkout.cast import ADDRESS, opened, pay
from tests.client import APPROVED, CHALLENGED, DECLINED, Api, made
from tests.concurrency import at_once
from tests.contract.calls import order, vaulted
from tests.contract.lists.test_query_budgets import statements
from tests.factories import MerchantFactory
from tests.operators.corrections import operator
from tests.risk.factories import WHY, block_address, block_bin, block_card, block_email

JUAN = "juan@example.com"


def owner(email: str, part: str = "billing") -> dict[str, Any]:
    return {part: {"name": "Juan", "email": email}}


class Killed(BaseException):
    """The end of the process, which no code catches."""


@contextmanager
def dying_at(step: Failpoint) -> Iterator[None]:
    """Let the process die at `step` while the block runs."""

    def die(reached: Failpoint) -> None:
        if reached is step:
            raise Killed

    failpoints.listen(die)
    try:
        with pytest.raises(Killed):
            yield
    finally:
        failpoints.listen(None)


def status(charge: dict[str, Any]) -> str:
    return charge["status"]


@pytest.mark.parametrize("number", [APPROVED, CHALLENGED, DECLINED])
def test_a_charge_on_a_blocked_card_is_declined_and_reaches_no_provider(api: Api, number: str) -> None:
    block = block_card(number)
    charge = api.charge(number)
    assert (charge["status"], charge["failure_data"]["code"]) == ("failed", "card_declined")
    assert not SimulatedPayment.objects.exists()
    attempt = Attempt.objects.get()
    assert (attempt.block, attempt.outcome, attempt.provider_ref) == (block, "Declined", "")


@pytest.mark.parametrize(("digits", "outcome"), [(APPROVED[:6], "failed"), (APPROVED[1:7], "succeeded")])
def test_all_cards_with_the_first_six_digits_of_a_block_are_declined(api: Api, digits: str, outcome: str) -> None:
    block_bin(digits)
    assert status(api.charge(APPROVED)) == outcome


@pytest.mark.parametrize(("address", "outcome"), [("127.0.0.1", "failed"), ("127.0.0.2", "succeeded")])
def test_every_charge_that_is_requested_from_a_blocked_address_is_declined(
    api: Api, address: str, outcome: str
) -> None:
    block_address(address)
    assert [status(api.charge(APPROVED)), status(api.charge_source(api.wallet("gcash")))] == [
        outcome,
        "failed" if outcome == "failed" else "pending",
    ]


def test_an_address_of_ipv6_is_blocked_by_its_network(shop: NewMerchant) -> None:
    block_address("2001:db8:0:7::/64")
    api = Api(shop.keys["sk_test"])
    api.client.defaults["REMOTE_ADDR"] = "2001:db8:0:7::99"
    assert status(api.charge(APPROVED)) == "failed"


@pytest.mark.parametrize(
    "two", [{"bin": "424242", "email": JUAN}, {"address": "127.0.0.1", "bin": "424242"}, {"email": "", "bin": ""}]
)
def test_a_block_is_of_one_thing(db: None, two: dict[str, str]) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Block.objects.create(livemode=False, reason=WHY, put_by=operator("ana"), **two)


def test_a_blocked_wallet_is_refused_as_when_its_provider_makes_an_error(api: Api) -> None:
    block_email(JUAN)
    charge = api.charge_source(api.wallet("gcash", owner=owner(JUAN)))
    assert (charge["status"], charge["failure_data"]["code"]) == ("failed", "processing_error")


@pytest.mark.parametrize("part", ["billing", "shipping"])
@pytest.mark.parametrize("written", [JUAN, "Juan@Example.COM"])
def test_an_email_is_known_by_the_owner_of_the_source_however_it_is_written(api: Api, part: str, written: str) -> None:
    block_email("JUAN@example.com")
    assert status(api.charge_source(api.source(owner=owner(written, part)))) == "failed"


@pytest.mark.parametrize("email", ["juan@example.org", "ana.juan@example.com"])
def test_another_email_is_charged(api: Api, email: str) -> None:
    block_email(JUAN)
    assert status(api.charge_source(api.source(owner=owner(email)))) == "succeeded"


def test_an_owner_without_any_address_is_charged(api: Api) -> None:
    block_email(JUAN)
    assert status(api.charge_source(api.source(owner={"name": "Juan"}))) == "succeeded"


def test_an_email_is_known_by_the_customer_for_whom_the_source_is_kept(api: Api) -> None:
    source = vaulted(api)
    email = made(api.get("/customers/"))["data"][0]["email"]
    assert status(api.charge_source(source)) == "succeeded"
    block_email(email)
    assert status(api.charge_source(source)) == "failed"


def test_the_addresses_of_a_source_are_those_that_are_blocked(api: Api) -> None:
    source = vaulted(api)
    Source.objects.update(owner=owner("Ana@Example.com"))
    email = made(api.get("/customers/"))["data"][0]["email"]
    assert blocks.emails_of(Source.objects.get()) == sorted(["ana@example.com", email.lower()])
    assert source.endswith(Source.objects.get().id.hex)


@pytest.mark.parametrize(("whose", "expected"), [("its own", "failed"), ("another", "succeeded")])
def test_a_block_may_be_for_one_merchant(shop: NewMerchant, api: Api, whose: str, expected: str) -> None:
    block_card(merchant=shop.merchant if whose == "its own" else MerchantFactory())
    assert status(api.charge()) == expected


def test_a_block_in_the_other_mode_stops_nothing(api: Api) -> None:
    block_card(livemode=True)
    assert status(api.charge()) == "succeeded"


def test_another_card_is_charged(api: Api) -> None:
    block_card(CHALLENGED)
    assert status(api.charge()) == "succeeded"


def test_a_block_expires(api: Api) -> None:
    block_card(lasts=timedelta(days=7))
    assert status(api.charge()) == "failed"
    let_time_pass(Block, "expires_at")
    assert status(api.charge()) == "succeeded"


def test_a_block_at_one_merchant_expires_by_the_test_clock(api: Api, shop: NewMerchant, settings: Any) -> None:
    settings.KAHA_CLOCK = True
    block_card(lasts=timedelta(days=7), merchant=shop.merchant)
    made(api.post("/test/clock", {"advance_seconds": 8 * 24 * 3600}))
    assert status(api.charge()) == "succeeded"


def test_a_lifted_block_stops_nothing_and_is_kept(api: Api) -> None:
    block = block_card()
    blocks.lift(block, operator("ben"), "It was another card")
    assert status(api.charge()) == "succeeded"
    block.refresh_from_db()
    assert (block.lifted_by, block.lifted_because) == (operator("ben"), "It was another card")


def test_recovery_declines_by_the_block_of_the_attempt(api: Api) -> None:
    block = block_card()
    source = api.source()
    with dying_at(Failpoint.ASKING):
        api.post("/charges/", order(source))
    [charge] = made(api.get("/charges/"))["data"]
    blocks.lift(block, operator("ben"), "It was another card")
    recover()
    assert api.read(charge)["failure_data"]["code"] == "card_declined"
    assert not SimulatedPayment.objects.exists()


def test_the_audit_log_has_who_blocked_and_lifted_and_why(db: None) -> None:
    block = block_card()
    blocks.lift(block, operator("ben"), "It was another card")
    entries = AuditEntry.objects.about(block).order_by("id").values_list("action", "object_name", "reason")
    assert list(entries) == [("blocked", "Visa …3055", WHY), ("lifted", "Visa …3055", "It was another card")]


def test_no_reason_holds_a_card_number(db: None) -> None:
    with pytest.raises(ValidationError):
        block_card(reason=f"It is {CHALLENGED}")
    with pytest.raises(ValidationError):
        blocks.lift(block_card(), operator("ben"), f"It was {CHALLENGED}")
    assert Block.objects.get().lifted_at is None


@pytest.mark.parametrize(
    "members",
    [
        {"email": "Juan@example.com"},
        {"email": ""},
        {"fingerprint": b"1" * 32, "card": "Visa …4242"},
        {"reason": " "},
        {"lifted_at": clock.now()},
    ],
    ids=["upper case", "nothing", "both", "no reason", "lifted by nobody"],
)
def test_the_database_refuses_an_inconsistent_block(db: None, members: dict[str, Any]) -> None:
    block = block_email(JUAN)
    with pytest.raises(IntegrityError), transaction.atomic():
        Block.objects.filter(id=block.id).update(**members)


def test_the_database_refuses_approval_of_a_blocked_payment(api: Api) -> None:
    block_card()
    api.charge()
    with pytest.raises(IntegrityError), transaction.atomic():
        Attempt.objects.update(outcome="Approved")


@pytest.mark.django_db(transaction=True)
def test_of_concurrent_lifts_one_succeeds() -> None:
    block = block_card()

    def lift(name: str) -> bool:
        try:
            blocks.lift(block, operator(name), "It was another card")
        except blocks.AlreadyLifted:
            return False
        return True

    names = [operator(name).username for name in ("ben", "carla")]
    assert sorted(at_once(2, lambda number: lift(names[number]))) == [False, True]
    assert AuditEntry.objects.filter(action="lifted").count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("blocked", [True, False])
def test_a_block_costs_no_extra_statement(api: Api, blocked: bool) -> None:
    body = order(api.source())
    if blocked:
        block_card()
    assert len(statements(lambda: api.post("/charges/", body))) <= 12


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_many_blocks_are_found_by_their_indexes(api: Api) -> None:
    ana = operator("ana")
    rows = [Block(livemode=False, email=f"p{n}@example.com", reason=WHY, put_by=ana) for n in range(5_000)]
    Block.objects.bulk_create(rows, batch_size=1_000)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE payments_block")
    body = order(api.source(owner=owner("p77@example.com")))
    with CaptureQueriesContext(connection) as captured:
        assert status(made(api.post("/charges/", body))) == "failed"
    [sql] = [query["sql"] for query in captured if 'FROM "payments_block"' in query["sql"]]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {sql}")
        plan = "\n".join(line for (line,) in cursor)
    assert "Seq Scan on payments_block" not in plan, plan


@pytest.mark.parametrize(("email", "expected"), [("new@EXAMPLE.com", "failed"), ("juan@mail.example.com", "succeeded")])
def test_a_blocked_domain_stops_every_address_there_and_no_other(api: Api, email: str, expected: str) -> None:
    block_email("@example.com")
    assert status(api.charge_source(api.source(owner=owner(email)))) == expected


def test_a_blocked_domain_stops_no_payer_without_an_address(api: Api) -> None:
    block_email("@example.com")
    assert status(api.charge_source(api.source(owner={"name": "Juan"}))) == "succeeded"


@pytest.mark.parametrize(
    ("put", "on"),
    [(block_card, APPROVED), (block_bin, APPROVED[:6]), (block_email, "@example.com"), (block_address, ADDRESS)],
)
def test_a_block_declines_the_payer_of_a_checkout(api: Api, put: Callable[[str], Block], on: str) -> None:
    juan = owner("Juan@Example.com", "shipping")
    assert pay(opened(api), owner=juan).status == "succeeded"
    put(on)
    assert pay(opened(api), owner=juan).status == "failed"
    assert SimulatedPayment.objects.count() == 1
