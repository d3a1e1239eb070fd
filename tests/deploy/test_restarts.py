"""Two web processes behind the proxies of config/deploy that are restarted in turn, while payments are made."""

import os
import signal
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from threading import Event

import httpx
import psutil
import pytest

from payments.domain.merchants.merchants import NewMerchant
from payments.embedded.processes import wait_until
from payments.models import Charge
from payments.quickstart.ports import HOST
from tests.client import APPROVED, CARD_FIELDS
from tests.deploy.conftest import make_certificate, proxy_program, running_proxy
from tests.support.processes import free_port
from tests.support.web import web_process

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]
# Each proxy's client has an address of its own, by which the log of a web process says who has come.
CLIENTS = {"haproxy": "127.0.0.2", "nginx": "127.0.0.3"}
DRAIN_SECONDS = 3
PATIENCE_SECONDS = 60
# Between two payments of a client: as fast as they can they would take most of what restarting servers need.
PACE_SECONDS = 0.1


class Web:
    """One web process on a port of its own, that can be restarted."""

    def __init__(self, folder: Path, stack: ExitStack, **settings: str) -> None:
        self._folder, self._stack, self._settings = folder, stack, settings
        self._own = stack.enter_context(ExitStack())
        self.port = 0
        self.start()

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.port}"

    def start(self) -> None:
        served = web_process(self._folder, workers=1, at_port=self.port, **self._settings)
        url, self._pid = self._own.enter_context(served)
        self.port = int(url.rpartition(":")[2])

    def restart(self) -> None:
        os.kill(self._pid, signal.SIGTERM)
        psutil.Process(self._pid).wait(PATIENCE_SECONDS)
        self._own.close()
        self._own = self._stack.enter_context(ExitStack())
        log = self._folder / "web.log"
        length = log.stat().st_size
        self.start()
        # The other one may stop only when each proxy has seen that this one is back.
        assert wait_until(lambda: _all_have_paid(log.read_text()[length:]), PATIENCE_SECONDS)


def _all_have_paid(log: str) -> bool:
    paid = [line for line in log.splitlines() if "v2/charges/" in line]
    return all(any(f'"{address}"' in line for line in paid) for address in CLIENTS.values())


def test_no_request_fails_while_web_processes_restart_in_turn(tmp_path: Path, shop: NewMerchant) -> None:
    programs = {kind: proxy_program(kind) for kind in CLIENTS}
    with ExitStack() as stack:
        settings = {"HTTPS": "false", "TRUSTED_PROXIES": "1", "WEB_DRAIN_SECONDS": str(DRAIN_SECONDS)}
        webs = [Web(make(tmp_path / name), stack, **settings) for name in ("first", "second")]
        addresses = [web.address for web in webs]
        urls = {
            kind: behind(kind, program, make(tmp_path / kind), addresses, stack) for kind, program in programs.items()
        }
        over = Event()
        with ThreadPoolExecutor(len(urls)) as threads:
            key = shop.keys["sk_test"]
            clients = [threads.submit(pay_until, over, url, key, CLIENTS[kind]) for kind, url in urls.items()]
            try:
                for web in webs:
                    web.restart()
            finally:
                over.set()
            statuses = {kind: client.result() for kind, client in zip(urls, clients, strict=True)}
    assert {kind: set(seen) for kind, seen in statuses.items()} == {kind: {200, 201} for kind in CLIENTS}
    assert sum(map(len, statuses.values())) == 3 * Charge.objects.count()


def behind(kind: str, program: str, folder: Path, addresses: Sequence[str], stack: ExitStack) -> str:
    """Start a proxy before these web processes; return its address."""
    https, http = free_port(), free_port()
    make_certificate(folder / "tls")
    stack.enter_context(running_proxy(kind, program, folder, https, http, *addresses))
    return f"http://{HOST}:{http}"


def make(folder: Path) -> Path:
    folder.mkdir()
    return folder


def pay_until(over: Event, url: str, key: str, address: str) -> list[int]:
    """Make charges from `address` until `over` is set; return the status of every request."""
    statuses = []
    transport = httpx.HTTPTransport(local_address=address)
    with httpx.Client(base_url=url, auth=(key, ""), transport=transport, timeout=PATIENCE_SECONDS) as client:
        while not over.wait(PACE_SECONDS):
            source = client.post("/v2/sources/", json={"type": "card", "card": CARD_FIELDS | {"number": APPROVED}})
            order = {"amount": 10_000, "currency": "PHP", "source": source.json().get("id"), "description": "Halo-halo"}
            charge = client.post("/v2/charges/", json=order)
            read = client.get(f"/v2/charges/{charge.json().get('id')}")
            statuses += [source.status_code, charge.status_code, read.status_code]
    return statuses
