"""Puts a card into each place, by the way that something gets there, to see that it is found."""

from base64 import b64encode
from urllib.parse import quote

from celery import Celery

from payments.quickstart.servers.processes import wait_until
from tests.canaries.house import House
from tests.canaries.marks import CODES, marked
from tests.canaries.shapes import in_groups
from tests.client import APPROVED

NUMBER = marked(CODES[APPROVED], 94)
TOLD_TIMEOUT_SECONDS = 30
# Each in another form.
LINES = {
    "web": NUMBER,
    "worker": in_groups(NUMBER, " "),
    "prepare": in_groups(NUMBER, "-"),
    "redis": quote(in_groups(NUMBER, " ")),
}
HEX = NUMBER.encode().hex()
BASE64 = b64encode(f"card {NUMBER}".encode()).decode()


def plant(house: House) -> None:
    """Afterwards a card is in every place."""
    for log, line in LINES.items():
        with house.places.log(log).open("a") as file:
            file.write(f"{line}\n")
    (house.places.data / "planted").write_text(BASE64)
    # PostgreSQL's log, its files, the dump and a page of the admin.
    bank = ("INSERT INTO payments_binrange VALUES ('4973', 'visa', 'credit', 'PH', %s)", in_groups(NUMBER, " "))
    house.execute(*bank)
    house.redis.set("planted", HEX)
    Celery(broker=f"redis+socket://{house.places.redis_socket}").send_task("payments.tasks.planted", args=[NUMBER])
    _tell(house)


def _tell(house: House) -> None:
    """The API cannot know what base64 holds, so events and answers show it."""
    told = len(house.receiver.calls)
    house.shop.charge(house.shop.card(NUMBER, metadata={"note": BASE64}))
    assert wait_until(lambda: len(house.receiver.calls) > told, TOLD_TIMEOUT_SECONDS)
