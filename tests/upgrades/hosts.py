"""Two web hosts behind the proxies of config/deploy, whose processes change their version in turn while people pay."""

import os
import signal
import ssl
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event
from urllib.parse import urlsplit

import httpx2
import psutil

from payments.embedded.processes import wait_until
from payments.quickstart.ports import HOST
from tests.client import APPROVED, CARD_FIELDS
from tests.deploy.conftest import make_certificate, proxy_program, running_proxy
from tests.support.processes import free_port
from tests.support.web import web_process
from tests.upgrades.versions import Version

# Each proxy's client has an address of its own, by which the log of a web process says who has come.
CLIENTS = {"haproxy": "127.0.0.2", "nginx": "127.0.0.3"}
PATIENCE_SECONDS = 60
# Between two payments of a client: as fast as they can they would take most of what restarting servers need.
PACE_SECONDS = 0.1
SETTINGS = {"HTTPS": "false", "TRUSTED_PROXIES": "1", "WEB_DRAIN_SECONDS": "3", "PUBLIC_URL": f"https://{HOST}"}
CARD = {"type": "card", "card": CARD_FIELDS | {"number": APPROVED}}
ORDER = {"amount": 10_000, "currency": "PHP", "description": "Halo-halo"}
SESSION = {
    "line_items": [{"name": "Halo-halo", "amount": 12_500, "quantity": 2}],
    "currency": "PHP",
    "payment_method_types": ["card", "gcash"],
    "success_url": "https://shop.example/thanks",
    "cancel_url": "https://shop.example/cart",
}


class Web:
    """One web process on a port of its own, that can be started again with another version."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        folder.mkdir()
        self._folder, self._stack = folder, stack
        self.port = 0

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.port}"

    def start(self, version: Version) -> None:
        self._own = self._stack.enter_context(ExitStack())
        environment = {**version.environment, **SETTINGS}
        served = web_process(self._folder, workers=1, at_port=self.port, code=version.folder, **environment)
        url, self._pid = self._own.enter_context(served)
        self.port = int(url.rpartition(":")[2])

    def kill(self) -> None:
        os.killpg(self._pid, signal.SIGKILL)

    def restart(self, version: Version) -> None:
        os.kill(self._pid, signal.SIGTERM)
        psutil.Process(self._pid).wait(PATIENCE_SECONDS)
        self._own.close()
        log = self._folder / "web.log"
        length = log.stat().st_size
        self.start(version)
        # The other one may stop only when each proxy has seen that this one is back.
        assert wait_until(lambda: _all_have_paid(log.read_text()[length:]), PATIENCE_SECONDS)


def _all_have_paid(log: str) -> bool:
    paid = [line for line in log.splitlines() if "v2/charges/" in line]
    return all(any(f'"{address}"' in line for line in paid) for address in CLIENTS.values())


class Front:
    """The proxies before the web hosts, each with its client."""

    def __init__(self, folder: Path, webs: Sequence[Web], stack: ExitStack) -> None:
        self._folder, self._ports = folder, dict[str, int]()
        for kind in CLIENTS:
            program, place = proxy_program(kind), folder / kind
            place.mkdir()
            make_certificate(place / "tls")
            self._ports[kind] = free_port()
            addresses = [web.address for web in webs]
            stack.enter_context(running_proxy(kind, program, place, self._ports[kind], free_port(), *addresses))

    def client(self, kind: str = "haproxy", **options: object) -> httpx2.Client:
        """Return a client, which is at no address of kaha's or of a proxy's."""
        verify = ssl.create_default_context(cafile=str(self._folder / kind / "tls" / "fullchain.pem"))
        transport = httpx2.HTTPTransport(local_address=CLIENTS[kind], verify=verify)
        base = f"https://{HOST}:{self._ports[kind]}"
        return httpx2.Client(base_url=base, transport=transport, timeout=PATIENCE_SECONDS, **options)

    @contextmanager
    def load(self, key: str) -> Iterator[list[int]]:
        """Have a client of each proxy pay within the block; yield the statuses, which grow meanwhile."""
        over, statuses = Event(), list[int]()
        with ThreadPoolExecutor(len(CLIENTS)) as threads:
            clients = [threads.submit(self._pay_until, over, kind, key, statuses) for kind in CLIENTS]
            try:
                yield statuses
            finally:
                over.set()
            for client in clients:
                client.result()

    def _pay_until(self, over: Event, kind: str, key: str, statuses: list[int]) -> None:
        with self.client(kind, auth=(key, "")) as client:
            while not over.wait(PACE_SECONDS):
                statuses.extend(answer.status_code for answer in _one_order(client))


def _one_order(client: httpx2.Client) -> Iterator[httpx2.Response]:
    """Hold, capture and refund a payment, look at it, and open a checkout; stop after what was not answered well."""
    source = client.post("/v2/sources/", json=CARD)
    yield source
    held = client.post("/v2/charges/", json={**ORDER, "source": source.json().get("id"), "capture": False})
    yield held
    if held.is_success:
        charge = f"/v2/charges/{held.json()['id']}"
        yield client.post(f"{charge}/capture", json={})
        yield client.post(f"{charge}/refund", json={"amount": 2_500})
        yield client.get(charge)
    yield client.get("/v2/charges/?limit=10")
    session = client.post("/v2/checkout_sessions/", json=SESSION)
    yield session
    if session.is_success:
        yield client.get(urlsplit(session.json()["payment_url"]).path)
