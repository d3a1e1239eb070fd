"""The peers, served as kaha's other neighbours are, from a database in kaha's own cluster."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.benchmark.clients.client import Client, Load
from tests.benchmark.parts import PEERS
from tests.benchmark.peers.prepare import CARD
from tests.benchmark.servers import Service, side_server
from tests.support.processes import start

PREPARE_SECONDS = 300


@dataclass
class PeerClient(Client):
    """Acts for a merchant of the peers, whose `secret_key` is a token."""

    @property
    def authorization(self) -> str:
        return f"Token {self.secret_key}"

    def new_sources(self, count: int, **members: Any) -> list[str]:
        """Return requests that each make a source, of a payer of its own; the number stays at the provider."""
        cards = [{**CARD, "name": f"Payer {payer}"} for payer in range(count)]
        return [self.request("POST", f"{self.root}/sources/", card) for card in cards]


@contextmanager
def started_peers(service: Service, load: Load, charges: int) -> Iterator[Mapping[str, PeerClient]]:
    """Start them on so many charges, and yield a client of each, by its name. Raises Failed."""
    with service.connect() as connection:
        connection.autocommit = True
        connection.execute("CREATE DATABASE peers")
    address = dict(zip(("PGHOST", "PGUSER", "PGPASSWORD"), service.database, strict=False))
    settings = {"DJANGO_SETTINGS_MODULE": "tests.benchmark.peers.settings", **address}
    token, log = service.data / "peers.token", service.data / "prepare.log"
    command = [sys.executable, "-m", "tests.benchmark.peers.prepare", str(charges)]
    start(command, log=log, output=token, environment=os.environ | settings).succeed(PREPARE_SECONDS)
    with side_server("peers", service.data, **settings) as server:
        pids = service.pids | {"server": server.pid}
        key = token.read_text().strip()
        yield {name: PeerClient(load, server.port, key, pids, root=f"/{name}") for name in PEERS}
