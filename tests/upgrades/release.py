"""Writes the dump of a release: `python -m tests.upgrades.release 0.9.0`.

Its own quickstart makes the database, and its own demo a month of life. Beside the dump, VERSION.json has what a test
needs to work with it: keys that were made for this dump and open nothing else, a sealed card, a proof, a head.
"""

import gzip
import json
import os
import re
import sys
from http import HTTPStatus
from pathlib import Path
from typing import Any

import httpx2

from payments.embedded import postgres
from payments.embedded.folders import prepare, secrets_of
from tests.client import APPROVED, CARD_FIELDS
from tests.quickstart.quickstart_process import Quickstart, manage, sign_in
from tests.support.dumps import dump_of
from tests.support.postgres import data_folder

FOLDER = Path(__file__).parent
ABOUT = "Made for this dump, in test mode, and of no use elsewhere: none of it opens anything but the dump beside it."
KEYS = ("SECRET_KEY", "VAULT_KEYS", "FINGERPRINT_KEY", "TRANSPARENCY_KEYS")
SHOWN = ("admin_user", "admin_password", "owner_user", "owner_password", "sk_test", "whsec_test")
# The demo's month, as small as it can be with every kind of charge; then all of it into the log, under a signed head.
LIFE = """
from time import sleep
from payments.ledger.transparency import append, heads
from payments.quickstart import month
month.CHARGES, month.MERCHANTS = 50, 1
month.make_once()
append.append(most_batches=None)
# A worker may hold the log for a moment.
assert any(heads.sign(heads.newest_head()) or sleep(1) for _ in range(20))
print(*heads.public_keys())
"""
# Tables that have rows then.
LIVED = (
    *("payments_source", "payments_charge", "payments_refund", "payments_dispute", "payments_payout", "payments_card"),
    *("customers_customersource", "payments_apikey", "payments_idempotencyrecord", "payments_webhookendpoint"),
    *("payments_webhooksecret", "payments_auditentry", "payments_loghead", "payments_approvalrequest"),
    *("payments_checkout", "payments_paymentlink", "payments_reconciliationitem", "usersessions_usersession"),
)


def main(version: str) -> None:
    """Make the month and write both files."""
    with data_folder() as data:
        quickstart = Quickstart(data, "--json")
        try:
            ready = quickstart.ready()
            made = expected(data, ready)
            write(version, dump_of(address_of(data)), made)
        finally:
            quickstart.program.stop()
            quickstart.ended()


def expected(data: Path, ready: dict[str, Any]) -> dict[str, Any]:
    """Make a month of life and a customer with a kept card; return what must be found again after an upgrade."""
    *_, public_key = manage(data, "shell", "-c", LIFE).split()
    with httpx2.Client() as browser:
        for site, user in (("admin", "admin"), ("dashboard", "owner")):
            assert sign_in(browser, ready, site, user).status_code == HTTPStatus.FOUND
    with httpx2.Client(base_url=f"{ready['api']}/v2", auth=(ready["sk_test"], ""), timeout=60) as api:
        source = asked(api, "/sources/", {"type": "card", "card": CARD_FIELDS | {"number": APPROVED}})
        customer = asked(api, "/customers/", {"email": "liza@example.com", "description": "Liza Cruz"})
        asked(api, f"/customers/{customer['id']}/sources", {"source": source["id"]})
        asked(api, "/webhook_endpoints/", {"url": "https://shop.example/hook", "enabled_events": ["*"]})
        in_log = [row for row in asked(api, "/balance_transactions/?limit=100")["data"] if "leaf" in row]
        proof = asked(api, f"/proofs/{in_log[-1]['id']}")
        head = httpx2.get(f"{ready['api']}/transparency").text
    return {
        "about": ABOUT,
        "environment": {name: secrets_of(data)[name] for name in KEYS},
        **{name: ready[name] for name in SHOWN},
        "source": source["id"],
        "proof": proof,
        "head": head,
        "public_key": public_key,
        "audit_head": manage(data, "verify_audit", "--head").strip(),
    }


def asked(api: httpx2.Client, path: str, body: Any = None) -> dict[str, Any]:
    """Return the answer, which is a success, to a request."""
    answer = api.get(path) if body is None else api.post(path, json=body)
    assert answer.is_success, answer.text
    return dict(answer.json())


def address_of(data: Path) -> str:
    """Return the address of the database below a data folder."""
    return postgres.url(prepare(data), secrets_of(data)["POSTGRES_PASSWORD"])


def write(version: str, dump: str, made: dict[str, Any]) -> None:
    """Write the files; the same dump has the same bytes. A dump in which something did not live is refused."""
    empty = {table for table in LIVED if re.search(rf"(?m)^COPY public\.{table} .*\n\\\.$", dump)}
    assert not empty, empty
    (FOLDER / f"{version}.sql.gz").write_bytes(gzip.compress(dump.encode(), 9, mtime=0))
    (FOLDER / f"{version}.json").write_text(json.dumps(made, indent=1) + "\n")
    size = (FOLDER / f"{version}.sql.gz").stat().st_size
    print(f"{version}: {size // 1000} kB, {dump.count(chr(10))} lines, {os.path.relpath(FOLDER)}", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1])
