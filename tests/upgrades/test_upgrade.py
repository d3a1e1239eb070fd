"""The guide's upgrade, from the dump of each release, with its own code, while payments are made."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import psycopg
import pytest
import standardwebhooks

from payments.embedded.processes import wait_until
from tests.client import CHALLENGED
from tests.quickstart.quickstart_process import sign_in
from tests.support.dumps import libpq
from tests.support.receiver import Receiver
from tests.support.worker import Worker
from tests.transparency.log import books, verify
from tests.upgrades.hosts import CARD, ORDER, PATIENCE_SECONDS, Front, Web
from tests.upgrades.versions import CONTRACT, EXPAND, Release, Version, copied, released

pytestmark = [pytest.mark.long, pytest.mark.django_db]
RETRIED = {"Idempotency-Key": "order 1001"}


@dataclass(frozen=True)
class Before:
    """What the version before has given to people and programs."""

    browsers: dict[str, httpx2.Client]
    charge: dict[str, Any]
    pages: list[str]


@dataclass
class Installation:
    """Web hosts, a worker and the proxies; `old` serves first, and `new` is brought in by the guide's steps."""

    release: Release
    old: Version
    new: Version
    webs: list[Web]
    worker: Worker
    front: Front

    def upgrade(self, folder: Path) -> None:
        """Migrate, restart one web host after the other, and then the worker."""
        self.new.manage("migrate")
        for web in self.webs:
            web.restart(self.new)
        self.worker.program.stop(PATIENCE_SECONDS)
        self.worker = started(folder, self.new)


@pytest.fixture
def installation(release: Release, tmp_path: Path) -> Iterator[Installation]:
    """Yield a running installation of the release."""
    new = Version(copied(tmp_path / "new"), release.environment)
    old = Version(released(release.dump, tmp_path / "old"), release.environment)
    new.add_migration(EXPAND)
    # Its worker would have made the months and days since the dump.
    old.manage("run_sweep", "maintain_partitions")
    with ExitStack() as stack:
        webs = [Web(tmp_path / name, stack) for name in ("first", "second")]
        for web in webs:
            web.start(old)
        made = Installation(release, old, new, webs, started(tmp_path, old), Front(tmp_path, webs, stack))
        yield made
        for process in (made.worker, *webs):
            process.kill()


def started(folder: Path, version: Version) -> Worker:
    worker = Worker(folder, version.folder)
    worker.start("--pool=threads", "--concurrency=4", **version.environment)
    return worker


@contextmanager
def api_of(installation: Installation) -> Iterator[httpx2.Client]:
    with installation.front.client(auth=(installation.release.known["sk_test"], "")) as api:
        yield api


def test_a_release_is_upgraded_under_load_and_what_it_gave_still_works(
    installation: Installation, tmp_path: Path, receiver: Receiver
) -> None:
    known = installation.release.known
    with api_of(installation) as api, ExitStack() as stack:
        before = made_before(installation, api, stack)
        charges = charges_in(installation.release.url)
        with installation.front.load(known["sk_test"]) as statuses:
            installation.upgrade(tmp_path)
        assert set(statuses) == {200, 201}
        # Each order has one charge and one session that were made, also where a proxy asked the other host.
        assert charges_in(installation.release.url) - charges == statuses.count(201) // 2
        assert has_column(installation.release.url, "colour")
        what_people_and_programs_have_still_works(before, api)
        a_sealed_card_is_charged_and_its_webhook_signed(api, known, receiver)
    books_and_proofs_hold(installation.new, known, tmp_path)

    # The proof that all of this would notice: no version may lose what the one before writes.
    installation.new.add_migration(CONTRACT)
    with installation.front.load(known["sk_test"]) as statuses:
        installation.new.manage("migrate")
        assert not has_column(installation.release.url, "description")
        assert wait_until(lambda: 500 in statuses, PATIENCE_SECONDS)


def made_before(installation: Installation, api: httpx2.Client, stack: ExitStack) -> Before:
    """Have people sign in, and a program charge, at the version before."""
    known, browsers = installation.release.known, {}
    for site, user in (("admin", "admin"), ("merchant", "owner")):
        browsers[site] = stack.enter_context(installation.front.client())
        browsers[site].headers["Referer"] = str(browsers[site].base_url)
        assert sign_in(browsers[site], {**known, site: f"/{site}/"}, site, user).status_code == 302
    source = api.post("/v2/sources/", json=CARD).json()["id"]
    charge = api.post("/v2/charges/", json={**ORDER, "source": source}, headers=RETRIED)
    challenged = {"type": "card", "card": CARD["card"] | {"number": CHALLENGED}}
    waiting = api.post(
        "/v2/charges/", json={**ORDER, "source": api.post("/v2/sources/", json=challenged).json()["id"]}
    ).json()
    return Before(browsers, charge.json(), [urlsplit(waiting["action"]["url"]).path])


def what_people_and_programs_have_still_works(before: Before, api: httpx2.Client) -> None:
    """Look at the sites with the old cookies, at a payer's page, and send a request again."""
    assert [browser.get(f"/{site}/").status_code for site, browser in before.browsers.items()] == [200, 200]
    assert [api.get(page).status_code for page in before.pages] == [200]
    order = {**ORDER, "source": before.charge["source"]["id"]}
    assert api.post("/v2/charges/", json=order, headers=RETRIED).json() == before.charge


def a_sealed_card_is_charged_and_its_webhook_signed(
    api: httpx2.Client, known: dict[str, Any], receiver: Receiver
) -> None:
    charge = api.post("/v2/charges/", json={**ORDER, "source": known["source"]}).json()
    assert (charge["status"], charge["source"]["card"]["last4"]) == ("succeeded", CARD["card"]["number"][-4:])
    pages = {name: f"https://shop.example/{name}" for name in ("success", "fail")}
    source = api.post("/v2/sources/", json={**CARD, "redirect": {**pages, "notify": receiver.url}}).json()["id"]
    api.post("/v2/charges/", json={**ORDER, "source": source})
    assert wait_until(lambda: len(receiver.calls) > 0, PATIENCE_SECONDS)
    standardwebhooks.Webhook(known["whsec_test"]).verify(receiver.calls[0].body, receiver.calls[0].headers)


def books_and_proofs_hold(version: Version, known: dict[str, Any], folder: Path) -> None:
    """Check the money, the audit log with its old head, and the books with the old head and the old proof."""
    version.manage("check_money")
    version.manage("verify_audit", "--expect", known["audit_head"])
    version.manage("export_books", folder / "books")
    keys = [verify.read_key(known["public_key"])]
    books.check_proof(known["proof"], keys)
    with (folder / "books").open() as lines:
        assert books.check_books(lines, [known["head"]], keys).faults == []


def charges_in(url: str) -> int:
    with psycopg.connect(libpq(url)) as connection:
        [(count,)] = connection.execute("SELECT count(*) FROM payments_charge").fetchall()
    return int(count)


def has_column(url: str, name: str) -> bool:
    with psycopg.connect(libpq(url)) as connection:
        asked = "SELECT FROM information_schema.columns WHERE table_name = 'payments_charge' AND column_name = %s"
        return connection.execute(asked, [name]).fetchone() is not None
