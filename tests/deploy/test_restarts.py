"""Two web processes behind a proxy of config/deploy that are restarted in turn, while payments are made."""

import os
import signal
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
CLIENTS = 2
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
        # The other one may stop only when the proxy has seen that this one is back.
        assert wait_until(lambda: b"v2/charges/" in log.read_bytes()[length:], PATIENCE_SECONDS)


@pytest.mark.parametrize("kind", ["haproxy", "nginx"])
def test_no_request_fails_while_web_processes_restart_in_turn(tmp_path: Path, shop: NewMerchant, kind: str) -> None:
    program = proxy_program(kind)
    make_certificate(tmp_path / "tls")
    with ExitStack() as stack:
        https, http = free_port(), free_port()
        url = f"http://{HOST}:{http}"
        settings = {"HTTPS": "false", "TRUSTED_PROXIES": "1", "WEB_DRAIN_SECONDS": str(DRAIN_SECONDS)}
        webs = [Web(make(tmp_path / name), stack, **settings) for name in ("first", "second")]
        addresses = [f"http://{HOST}:{web.port}" for web in webs]
        stack.enter_context(running_proxy(kind, program, tmp_path, https, http, *addresses))
        over = Event()
        with ThreadPoolExecutor(CLIENTS) as threads:
            clients = [threads.submit(pay_until, over, url, shop.keys["sk_test"]) for _ in range(CLIENTS)]
            try:
                for web in webs:
                    web.restart()
            finally:
                over.set()
            statuses = [status for client in clients for status in client.result()]
    assert set(statuses) == {200, 201}
    assert len(statuses) == 3 * Charge.objects.count()


def make(folder: Path) -> Path:
    folder.mkdir()
    return folder


def pay_until(over: Event, url: str, key: str) -> list[int]:
    """Make charges until `over` is set; return the status of every request."""
    statuses = []
    with httpx.Client(base_url=url, auth=(key, ""), timeout=PATIENCE_SECONDS) as client:
        while not over.wait(PACE_SECONDS):
            source = client.post("/v2/sources/", json={"type": "card", "card": CARD_FIELDS | {"number": APPROVED}})
            order = {"amount": 10_000, "currency": "PHP", "source": source.json().get("id"), "description": "Halo-halo"}
            charge = client.post("/v2/charges/", json=order)
            read = client.get(f"/v2/charges/{charge.json().get('id')}")
            statuses += [source.status_code, charge.status_code, read.status_code]
    return statuses
