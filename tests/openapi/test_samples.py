"""The samples of the reference, run as they stand against a server: only example IDs and the address are replaced."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from payments.api.reference.literals import JAVASCRIPT, JSON, PHP, PYTHON, Notation, literal
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.payouts import send
from tests.checkout.cast import billed, collected, opened
from tests.checkout.shelf import linked
from tests.client import Api, made
from tests.contract.calls import (
    NOWHERE,
    endpoint,
    new_dispute,
    new_payout,
    new_transaction,
    newest_event,
    newest_request,
    proven,
    with_evidence,
)
from tests.contract.calls import customer as new_customer
from tests.contract.checkout_calls import held_session as new_held_session
from tests.openapi.conftest import Document

# The program of each language, the name of a file for it, and Debian's package.
PROGRAMS = {
    "curl": (["bash", "-eu"], "sample.sh", "curl"),
    "Python": ([sys.executable], "sample.py", "python3"),
    "JavaScript": (["node"], "sample.mjs", "nodejs"),
    "PHP": (["php"], "sample.php", "php-cli and php-curl"),
}
# The IDs of the document's examples, by kind.
EXAMPLE_ID = re.compile(r"\b([a-z]+)_019a[0-9a-f]{28}\b")
CONFIRMATION_ID = "7d1b0c55"
AMOUNT = 188_900
Ids = dict[str, str]


Prepare = Callable[[Api], Ids]


def of(prefix: str, make: Callable[[Api], Any]) -> Prepare:
    """Return what makes a thing and says its ID, which `make` returns as it is or as a member of an answer."""

    def ids(api: Api) -> Ids:
        found = make(api)
        return {prefix: found if isinstance(found, str) else found["id"]}

    return ids


def waiting_for_a_pin(api: Api) -> Ids:
    charge = api.charge_source(api.wallet("bpi"))
    return {"ch": charge["id"], CONFIRMATION_ID: charge["action"]["confirmation_id"]}


def customer_and_source(api: Api) -> Ids:
    return customer(api) | source(api)


def kept_source(api: Api) -> Ids:
    ids = customer_and_source(api)
    made(api.post(f"/customers/{ids['cus']}/sources", {"source": ids["src"]}))
    return ids


def to_collect(api: Api) -> Ids:
    made_ready = collected(api)
    return {"pr": made_ready["id"], "src": made_ready["source"]}


def sent_payout(api: Api) -> Ids:
    ids = payout(api)
    assert send.send_due() == 1
    return ids


def nothing(api: Api) -> Ids:
    return {}


held, captured = of("ch", lambda api: api.held(AMOUNT)), of("ch", lambda api: api.charge(amount=AMOUNT))
source, customer = of("src", Api.source), of("cus", lambda api: new_customer(api, email="juan@example.com"))
session, held_session = of("cs", opened), of("cs", new_held_session)
link, request = of("plink", linked), of("pr", billed)
webhook_endpoint, silent_endpoint = of("we", endpoint), of("we", lambda api: endpoint(api, url=NOWHERE))
event, logged = of("evt", newest_event), of("req", newest_request)
dispute, defended = of("dp", new_dispute), of("dp", with_evidence)
payout, transaction, proof = of("po", new_payout), of("txn", new_transaction), of("txn", proven)

# What each operation needs, and a word and value of its answer, if it has one.
OPERATIONS: dict[str, tuple[Prepare, str, str]] = {
    "create_source": (nothing, "object", "source"),
    "retrieve_source": (source, "object", "source"),
    "create_charge": (source, "amount", "188900"),
    "list_charges": (captured, "object", "charge"),
    "retrieve_charge": (captured, "object", "charge"),
    "capture_charge": (held, "amount_captured", "120000"),
    "void_charge": (held, "status", "voided"),
    "refund_charge": (captured, "amount_refunded", "50000"),
    "verify_charge": (waiting_for_a_pin, "status", "succeeded"),
    "create_customer": (nothing, "object", "customer"),
    "list_customers": (customer, "object", "customer"),
    "retrieve_customer": (customer, "object", "customer"),
    "retrieve_customer_by_email": (customer, "email", "juan@example.com"),
    "update_customer": (customer, "mobile_number", r"\+639177654321"),
    "delete_customer": (customer, "id", "cus_[0-9a-f]{32}"),
    "attach_source": (customer_and_source, "vaulted", "(true|True|1)"),
    "detach_source": (kept_source, "object", ""),
    "list_checkout_sessions": (session, "object", "checkout.session"),
    "create_checkout_session": (nothing, "payment_status", "unpaid"),
    "retrieve_checkout_session": (session, "object", "checkout.session"),
    "expire_checkout_session": (session, "payment_status", "expired"),
    "capture_checkout_session": (held_session, "payment_status", "paid"),
    "list_payment_requests": (request, "object", "payment_request"),
    "create_payment_request": (customer, "object", "payment_request"),
    "retrieve_payment_request": (request, "object", "payment_request"),
    "void_payment_request": (request, "void_reason", "Sent twice"),
    "resend_payment_request": (request, "object", "payment_request"),
    "collect_payment_request": (to_collect, "tries", "0"),
    "stop_collecting_payment_request": (request, "object", "payment_request"),
    "list_payment_links": (link, "object", "payment_link"),
    "create_payment_link": (nothing, "active", "(true|True|1)"),
    "retrieve_payment_link": (link, "object", "payment_link"),
    "update_payment_link": (link, "internal_name", "Winter menu"),
    "activate_payment_link": (link, "object", "payment_link"),
    "deactivate_payment_link": (link, "object", "payment_link"),
    "list_webhook_endpoints": (webhook_endpoint, "object", "webhook_endpoint"),
    "create_webhook_endpoint": (nothing, "secret", "whsec_"),
    "retrieve_webhook_endpoint": (webhook_endpoint, "object", "webhook_endpoint"),
    "update_webhook_endpoint": (webhook_endpoint, "status", "paused"),
    "delete_webhook_endpoint": (webhook_endpoint, "deleted", "(true|True|1)"),
    "test_webhook_endpoint": (silent_endpoint, "object", "webhook_test"),
    "roll_webhook_endpoint_secret": (webhook_endpoint, "secret", "whsec_"),
    "list_disputes": (dispute, "object", "dispute"),
    "retrieve_dispute": (dispute, "object", "dispute"),
    "add_evidence": (dispute, "object", "evidence"),
    "list_evidence": (defended, "object", "evidence"),
    "submit_evidence": (defended, "type", "evidence"),
    "accept_dispute": (dispute, "type", "accept"),
    "list_payouts": (payout, "object", "payout"),
    "retrieve_payout": (payout, "object", "payout"),
    "list_payout_transactions": (payout, "type", "settle"),
    "list_balance_transactions": (transaction, "object", "balance_transaction"),
    "retrieve_balance_transaction": (transaction, "object", "balance_transaction"),
    "retrieve_proof": (proof, "object", "proof"),
    "list_events": (event, "object", "event"),
    "retrieve_event": (event, "object", "event"),
    "list_requests": (logged, "object", "request"),
    "retrieve_request": (logged, "object", "request"),
    "retrieve_account": (nothing, "object", ""),
    "retrieve_balance": (nothing, "currency", "PHP"),
    "ping": (nothing, "", ""),
    "healthy": (nothing, "", ""),
    "cause_event": (sent_payout, "type", "payout.failed"),
    "advance_clock": (nothing, "advanced_seconds", "604800"),
}
# Samples that read differ by their path and query alone, so that each is run by curl and by one other program in turn.
READING = re.compile("list_|retrieve_")
CASES = [
    pytest.param(name, label, id=f"{name}-{label}", marks=pytest.mark.tools if label == "curl" else pytest.mark.long)
    for place, name in enumerate(OPERATIONS)
    for label in PROGRAMS
    if not READING.match(name) or label in ("curl", [*PROGRAMS][1 + place % 3])
]


def sample_of(described: Document, name: str, label: str) -> str:
    [operation] = [one for one in described.operations().values() if one["operationId"] == name]
    [source] = [sample["source"] for sample in operation["x-codeSamples"] if sample["label"] == label]
    return source


def run(label: str, source: str, key: str, folder: Path) -> str:
    program, file, package = PROGRAMS[label]
    if shutil.which("curl" if label == "curl" else program[0]) is None:
        pytest.skip(f"no {program[0]} is installed (Debian: {package})")
    (folder / file).write_text(source)
    done = subprocess.run(
        [*program, file], cwd=folder, env=os.environ | {"KAHA_KEY": key}, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize(("name", "label"), CASES)
@pytest.mark.django_db(transaction=True)
def test_each_sample_runs(
    name: str,
    label: str,
    described: Document,
    live_server: LiveServer,
    shop: NewMerchant,
    settings: Settings,
    tmp_path: Path,
) -> None:
    address = settings.PUBLIC_URL
    settings.PUBLIC_URL = live_server.url
    settings.KAHA_CLOCK = True
    prepare, member, value = OPERATIONS[name]
    ids = prepare(Api(shop.keys["sk_test"]))
    source = sample_of(described, name, label).replace(address, live_server.url)
    source = EXAMPLE_ID.sub(lambda found: ids[found[1]], source).replace(CONFIRMATION_ID, ids.get(CONFIRMATION_ID, ""))
    output = run(label, source, shop.keys["sk_test"], tmp_path)
    # JSON, and how Python, Node and PHP print an object.
    form = rf"""['"\[]?{member}['"\]]?(:| =>) ?['"]?{value}"""
    assert re.search(form, output) if member else output.strip() in ("{}", "healthy", "Array\n(\n)"), output


@pytest.mark.long
@pytest.mark.parametrize("label", ["Python", "JavaScript", "PHP"])
@pytest.mark.django_db(transaction=True)
def test_a_sample_that_is_refused_prints_the_message(
    label: str, described: Document, live_server: LiveServer, settings: Settings, tmp_path: Path
) -> None:
    source = sample_of(described, "list_charges", label).replace(settings.PUBLIC_URL, live_server.url)
    program, file, _ = PROGRAMS[label]
    if shutil.which(program[0]) is None:
        pytest.skip(f"no {program[0]} is installed")
    (tmp_path / file).write_text(source)
    environment = os.environ | {"KAHA_KEY": "rzp_test_4f8KxPqL2mNcWd"}
    done = subprocess.run([*program, file], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert "This is a key of Razorpay." in done.stdout + done.stderr


def test_every_operation_has_a_sample_in_each_language(described: Document) -> None:
    for operation in described.operations().values():
        assert [sample["label"] for sample in operation["x-codeSamples"]] == list(PROGRAMS)
    assert {operation["operationId"] for operation in described.operations().values()} == OPERATIONS.keys()


def test_a_sample_has_no_key(described: Document) -> None:
    for operation in described.operations().values():
        for sample in operation["x-codeSamples"]:
            assert not re.search(r"[sp]k_(test|live)_|whsec_", sample["source"])
            assert ("KAHA_KEY" in sample["source"]) == (operation["operationId"] != "healthy")


TRICKY: dict[str, Any] = {"a": ['"', "\\", "$x", "it's", "é"], "b": {"c": None, "d": True, "e": {}}, "f": 1}


@pytest.mark.parametrize(
    ("notation", "expected"),
    [
        (JSON, '{\n  "a": [\n    "\\"",\n    "\\\\",\n    "$x",'),
        (PYTHON, '{\n    "a": [\n        "\\"",\n        "\\\\",\n        "$x",'),
        (JAVASCRIPT, '{\n  a: [\n    "\\"",\n    "\\\\",\n    "$x",'),
        (PHP, '[\n    "a" => [\n        "\\"",\n        "\\\\",\n        "\\$x",'),
    ],
)
def test_texts_are_escaped_in_each_notation(notation: Notation, expected: str) -> None:
    assert literal(TRICKY, notation).startswith(expected)
