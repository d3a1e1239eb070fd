"""Planting of a card in each place, by the way that data gets there, to prove that it is found."""

from base64 import b64encode
from urllib.parse import quote

from celery import Celery

from payments.embedded.processes import wait_until
from tests.canaries.marks import CODES, in_groups, marked
from tests.canaries.service import Service
from tests.client import APPROVED
from tests.traces.listeners import ERRORS, TRACES, Got

NUMBER = marked(CODES[APPROVED], 94)
CALL_TIMEOUT_SECONDS = 30
# Each in another form.
LINES = {
    "web": NUMBER,
    "worker": in_groups(NUMBER, " "),
    "prepare": in_groups(NUMBER, "-"),
    "redis": quote(in_groups(NUMBER, " ")),
}
HEX = NUMBER.encode().hex()
BASE64 = b64encode(f"card {NUMBER}".encode()).decode()


def plant(service: Service) -> None:
    """Put a card into every place."""
    for log, line in LINES.items():
        with service.folders.log(log).open("a") as file:
            file.write(f"{line}\n")
    (service.folders.data / "planted").write_text(BASE64)
    # PostgreSQL's log, its files, the dump and a page of the admin.
    bank = ("INSERT INTO payments_binrange VALUES ('4973', 'visa', 'credit', 'PH', %s)", in_groups(NUMBER, " "))
    service.execute(*bank)
    service.redis.set("planted", HEX)
    for path in (TRACES, ERRORS):
        service.listener.got.append(Got(path, {}, HEX.encode()))
    Celery(broker=f"redis+socket://{service.folders.redis_socket}").send_task("payments.tasks.planted", args=[NUMBER])
    _plant_in_answers(service)


def _plant_in_answers(service: Service) -> None:
    """Send a card as base64, which the API cannot detect, so that events and answers contain it."""
    calls = len(service.receiver.calls)
    service.shop.charge(service.shop.card(NUMBER, metadata={"note": BASE64}))
    assert wait_until(lambda: len(service.receiver.calls) > calls, CALL_TIMEOUT_SECONDS)
