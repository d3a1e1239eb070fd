"""`kaha charges` and `kaha login` against a running kaha."""

import json
import stat

import pytest
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from payments.domain.merchants.merchants import NewMerchant
from payments.ids import public_id
from payments.models import Charge
from tests.cli.conftest import Service
from tests.cli.terminal import Terminal
from tests.factories import ChargeFactory
from tests.support.processes import Failed
from tests.support.relay import relay_process

pytestmark = pytest.mark.long

APPROVED, CHALLENGED, DECLINED = "4000000000003055", "4242424242424242", "4000000000000002"


def created(terminal: Terminal, *options: str) -> dict:
    return json.loads(terminal.run("charges", "create", *options, "--json").succeeded())


def test_a_charge_is_made_of_a_test_card_and_refunded(terminal: Terminal, service: Service) -> None:
    charge = created(terminal, "125000", "--card", APPROVED, "--description", "Order 1001")
    assert (charge["amount"], charge["status"], charge["captured"]) == (125000, "succeeded", True)
    shown = terminal.run("charges", "refund", charge["id"], "--amount", "25000", "--reason", "Out of stock").succeeded()
    assert "PHP 250.00 refunded" in shown
    refunds = service.get(f"/charges/{charge['id']}").json()["refunds"]
    assert [(refund["amount"], refund["reason"]) for refund in refunds] == [(25000, "Out of stock")]


def test_a_hold_is_captured_in_part_and_another_voided(terminal: Terminal) -> None:
    one, other = (created(terminal, "5000", "--card", APPROVED, "--hold")["id"] for _ in range(2))
    assert "status   held" in terminal.run("charges", "retrieve", one).succeeded()
    done = json.loads(terminal.run("charges", "capture", one, "--amount", "4000", "--json").succeeded())
    assert (done["captured"], done["amount_captured"]) == (True, 4000)
    assert "status   voided" in terminal.run("charges", "void", other).succeeded()


def test_a_payer_who_must_act_and_a_decline_are_shown(terminal: Terminal, service: Service) -> None:
    waiting = terminal.run("charges", "create", "100", "--card", CHALLENGED).succeeded()
    assert f"must act at {service.url}/" in waiting
    assert (
        "status   succeeded" in terminal.run("charges", "create", "100", "--card", CHALLENGED, "--no-auth").succeeded()
    )
    assert "card_declined" in terminal.run("charges", "create", "100", "--card", DECLINED).succeeded()


def test_who_charges_and_how_often_is_sent_where_it_is_given(terminal: Terminal) -> None:
    given = ("charges", "create", "100", "--card", APPROVED)
    assert terminal.run(*given, "--initiator", "customer", "--schedule", "unscheduled").code == 0
    # A source that is not kept can be neither.
    for name, value in (("initiator", "merchant"), ("schedule", "recurring")):
        refused = terminal.run(*given, f"--{name}", value)
        assert (refused.code, "not_allowed" in refused.err, name in refused.err) == (1, True, True)


def test_a_list_is_shown_in_lines_or_as_it_came(terminal: Terminal, service: Service) -> None:
    failed = created(terminal, "100", "--card", DECLINED, "--description", "Line\u202e")["id"]
    created(terminal, "100", "--card", APPROVED)
    done = terminal.run("charges", "list", "--status", "failed", "--limit", "1")
    assert failed in done.succeeded()
    assert "Line?" in done.out
    came = terminal.run("charges", "list", "--limit", "2", "--json").succeeded()
    assert came == service.get("/charges/", limit=2).text + "\n"
    page = json.loads(came)
    assert f"--start-after {page['data'][1]['id']}" in terminal.run("charges", "list", "--limit", "2").err
    after = terminal.run(
        "charges", "list", "--limit", "1", "--start-after", page["data"][0]["id"], "--json"
    ).succeeded()
    assert json.loads(after)["data"] == page["data"][1:]


def test_the_same_idempotency_key_charges_once_though_the_card_is_wrapped_again(terminal: Terminal) -> None:
    options = ("100", "--card", APPROVED, "--idempotency-key", "order-77")
    assert created(terminal, *options) == created(terminal, *options)
    other = terminal.run("charges", "create", "200", "--card", APPROVED, "--idempotency-key", "order-77")
    assert (other.code, "idempotency_key_reused" in other.err) == (1, True)


def test_a_refusal_ends_in_1_with_all_that_the_service_says(terminal: Terminal, service: Service) -> None:
    done = terminal.run("charges", "create", "100", "--source", "src_1", "--description", "")
    assert (done.code, done.out) == (1, "")
    for label in ("code", "param", "request  req_", f"see      {service.url}/docs"):
        assert f"\n  {label}" in done.err
    assert terminal.run("charges", "retrieve", "ch_1").code == 1
    assert terminal.run("charges", "list", KAHA_KEY="sk_test_" + "0" * 48).code == 1


def test_an_address_that_is_not_kaha_ends_in_3(terminal: Terminal, service: Service) -> None:
    done = terminal.run("charges", "list", KAHA_URL=f"{service.url}/admin")
    assert (done.code, "is not kaha" in done.err) == (3, True)


def test_a_key_that_works_is_kept_for_its_owner_only(terminal: Terminal, service: Service) -> None:
    terminal.run("login").succeeded()
    assert stat.S_IMODE(terminal.profiles.stat().st_mode) == 0o600
    assert stat.S_IMODE(terminal.profiles.parent.stat().st_mode) == 0o700
    terminal.variables = {"HOME": terminal.variables["HOME"]}
    assert "ch_" in terminal.run("charges", "list").succeeded()


def test_a_key_that_does_not_work_is_not_kept(terminal: Terminal) -> None:
    assert terminal.run("login", KAHA_KEY="sk_test_" + "0" * 48).code == 1
    assert not terminal.profiles.exists()


def test_a_key_that_is_typed_is_not_shown(bare_terminal: Terminal, service: Service) -> None:
    answers = [("address", service.url), ("Secret key", service.keys["sk_test"])]
    done = bare_terminal.answer(["--profile", "shop", "login"], answers)
    assert (done.code, service.keys["sk_test"] in done.out) == (0, False)
    assert bare_terminal.run("profiles").succeeded() == f"shop  test mode  {service.url}\n"
    assert bare_terminal.run("charges", "list", KAHA_PROFILE="shop").code == 0


def test_a_service_that_comes_back_in_time_is_asked_again(terminal: Terminal, service: Service) -> None:
    with relay_process(int(service.url.rpartition(":")[2])) as relay:
        relay.cut()
        terminal.variables["KAHA_URL"] = f"http://127.0.0.1:{relay.port}"
        running = terminal.start("charges", "create", "4321", "--card", APPROVED, "--json")
        with pytest.raises(Failed, match="does not end"):
            running.program.wait(1)
        relay.restore()
        running.read_until('"amount":4321')


@pytest.mark.django_db(transaction=True)
def test_a_command_waits_as_long_as_the_service_asks_and_is_done(
    bare_terminal: Terminal, live_server: LiveServer, shop: NewMerchant, settings: Settings
) -> None:
    settings.RATE_LIMIT = "1/5 seconds"
    bare_terminal.variables |= {"KAHA_URL": live_server.url, "KAHA_KEY": shop.keys["sk_test"]}
    assert "status   succeeded" in bare_terminal.run("charges", "create", "100", "--card", APPROVED).succeeded()


@pytest.mark.django_db(transaction=True)
def test_a_wait_of_more_than_a_minute_is_a_refusal(
    bare_terminal: Terminal, live_server: LiveServer, shop: NewMerchant, settings: Settings
) -> None:
    settings.RATE_LIMIT = "1/100 hours"
    bare_terminal.variables |= {"KAHA_URL": live_server.url, "KAHA_KEY": shop.keys["sk_test"]}
    done = bare_terminal.run("charges", "create", "100", "--card", APPROVED)
    assert (done.code, "rate_limited" in done.err) == (1, True)


@pytest.mark.parametrize(
    ("stage", "command", "question"),
    [
        ("is_part_refunded", ("refund", "CHARGE"), "refund PHP 75.00 of"),
        ("is_part_refunded", ("refund", "CHARGE", "--amount", "50"), "refund PHP 0.50 of"),
        ("is_held", ("capture", "CHARGE"), "capture PHP 100.00 of"),
        ("is_captured", ("void", "CHARGE"), "void PHP 100.00 of"),
    ],
)
@pytest.mark.django_db(transaction=True)
def test_with_a_live_key_it_asks_with_the_amount_and_sends_nothing_on_no(
    stage: str,
    command: tuple[str, ...],
    question: str,
    bare_terminal: Terminal,
    live_server: LiveServer,
    shop: NewMerchant,
) -> None:
    charge = ChargeFactory(merchant=shop.merchant, livemode=True, **{stage: True})
    bare_terminal.variables |= {"KAHA_URL": live_server.url, "KAHA_KEY": shop.keys["sk_live"]}
    public = public_id("ch", charge.id)
    arguments = ["charges", *(public if word == "CHARGE" else word for word in command)]
    done = bare_terminal.answer(arguments, [(f"{question} {public}? [y/N]", "n")])
    assert (done.code, "Nothing was sent." in done.out) == (2, True)
    assert Charge.objects.get(id=charge.id).version == charge.version
