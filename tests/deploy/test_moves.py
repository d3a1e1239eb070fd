"""A merchant who moves to another cell: the guide's commands, with two cells behind a real HAProxy."""

import io
import json
import re
import shlex
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from uuid import uuid4

import httpx2
import pytest
from django.core.management import call_command
from django.db import connection
from django.test import override_settings

from payments import vault
from payments.domain.maintenance.data_keys import DatabaseKeyStore
from payments.embedded.processes import wait_until
from payments.models import Charge
from tests.client import APPROVED, CARD_FIELDS
from tests.deploy.conftest import proxy_of_cells
from tests.guides.texts import text_of
from tests.support.processes import PATIENCE_SECONDS
from tests.support.web import web_process

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

COMMANDS = re.compile(r"^ *```sh\n *(.*?)\n *```$", re.MULTILINE)


class Cell:
    """A whole installation but for its worker, by its database and name."""

    def __init__(self, name: str, database: str) -> None:
        self.name, self.database, self.address = name, database, ""

    def start(self, folder: Path, stack: ExitStack) -> None:
        folder.mkdir()
        with connected_to(self.database):
            served = web_process(folder, workers=1, TRUSTED_PROXIES="1", CELL=self.name)
            url, _ = stack.enter_context(served)
        self.address = url.removeprefix("http://")

    def run(self, command: str) -> str:
        """Run a line of the guide in this process; return what it prints."""
        output = io.StringIO()
        with connected_to(self.database), override_settings(CELL=self.name):
            call_command(*shlex.split(command)[2:], stdout=output)
        return output.getvalue()


@contextmanager
def connected_to(database: str) -> Iterator[None]:
    """Have this process use another database of the server until the block ends."""
    own = connection.settings_dict["NAME"]
    _connect(database)
    try:
        yield
    finally:
        _connect(own)


def _connect(database: str) -> None:
    connection.close()
    connection.settings_dict["NAME"] = database
    # Each database has data keys of its own.
    vault.use_store(DatabaseKeyStore())


def commands() -> list[str]:
    """Return the lines of the guide's steps, in their order."""
    guide = text_of("sharding")
    return COMMANDS.findall(guide[guide.index("## Moving a merchant") : guide.index("### With its history")])


@pytest.fixture
def second_database(transactional_db: None) -> Iterator[str]:
    """Yield the name of an empty database with kaha's tables: a copy of ours, which is empty."""
    name, own = f"second_{uuid4().hex[:8]}", connection.settings_dict["NAME"]
    # Nothing may be connected to what is copied.
    connection.close()
    connection.close_pool()
    run_sql(f"CREATE DATABASE {name} TEMPLATE {own}")
    yield name
    run_sql(f"DROP DATABASE {name} WITH (FORCE)")


def run_sql(statement: str) -> None:
    with connected_to("postgres"):
        with connection.cursor() as cursor:
            cursor.execute(statement)
        connection.close()
        connection.close_pool()


@pytest.fixture
def cells(second_database: str, tmp_path: Path) -> Iterator[tuple[Cell, Cell, httpx2.Client]]:
    """Yield both cells, and a client of the HAProxy before them."""
    first, second = Cell("", connection.settings_dict["NAME"]), Cell("second", second_database)
    with ExitStack() as stack:
        for cell, name in ((first, "first"), (second, "second")):
            cell.start(tmp_path / name, stack)
        client = stack.enter_context(proxy_of_cells(tmp_path, first.address, second.address))
        client.base_url = client.base_url.join("/v2")
        yield first, second, client


def charged(client: httpx2.Client, key: str) -> httpx2.Response:
    """Return the answer to a charge with this key."""
    card = {"type": "card", "card": CARD_FIELDS | {"number": APPROVED}}
    source = client.post("/sources/", json=card, auth=(key, ""))
    if source.is_error:
        return source
    order = {"amount": 10_000, "currency": "PHP", "source": source.json()["id"], "description": "Halo-halo"}
    return client.post("/charges/", json=order, auth=(key, ""))


def test_a_merchant_moves_with_the_next_charge_and_what_was_before_ends_in_the_old_cell(
    cells: tuple[Cell, Cell, httpx2.Client],
) -> None:
    first, second, client = cells
    create, create_key, revoke, check = commands()
    old = json.loads(first.run(create))
    before = charged(client, old["sk_test"]).json()

    new = json.loads(second.run(create))
    assert new["sk_test"].startswith("sk_test_second_")
    [left] = re.findall(r"rk_test_\w+", first.run(create_key))
    for kind in ("sk", "pk"):
        for mode in ("test", "live"):
            first.run(revoke.replace("KEY", key_id(first, old[f"{kind}_{mode}"])))

    after = charged(client, new["sk_test"]).json()
    assert (before["status"], after["status"]) == ("succeeded", "succeeded")
    # Nothing more is charged in the old cell, by whichever key, once its process has forgotten them.
    assert wait_until(lambda: client.get("/me", auth=(old["sk_test"], "")).status_code == 401, PATIENCE_SECONDS)
    assert charged(client, old["sk_test"]).status_code == 401
    assert charged(client, left).status_code == 403
    # Each cell has its own charge, and knows nothing of the other's.
    assert [charge.id.hex for charge in Charge.objects.all()] == [before["id"].removeprefix("ch_")]
    for key, own, other in ((left, before, after), (new["sk_test"], after, before)):
        assert [charge["id"] for charge in client.get("/charges/", auth=(key, "")).json()["data"]] == [own["id"]]
        assert client.get(f"/charges/{other['id']}", auth=(key, "")).status_code == 404
        assert client.post(f"/charges/{other['id']}/refund", auth=(key, "")).status_code == 404
    refunded = client.post(f"/charges/{before['id']}/refund", json={"amount": 4_000}, auth=(left, ""))
    assert (refunded.status_code, refunded.json()["amount_refunded"]) == (200, 4_000)
    for cell in (first, second):
        assert re.search(r"(\d+) of \1 hold", cell.run(check))


def key_id(cell: Cell, key: str) -> str:
    """Return the ID of a key, as the list shows it."""
    lines = cell.run('python manage.py merchant list-keys "Sari Store"').splitlines()
    [found] = [line.split()[0] for line in lines if line.split()[1].startswith(key[:7]) and key[-4:] in line.split()[1]]
    return found
