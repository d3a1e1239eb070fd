"""Whether web processes grow while they answer."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from payments.domain.merchants.merchants import create_merchant
from tests.benchmark.clients.client import Client, Load
from tests.benchmark.figures import memory_mb
from tests.support.web import web_process

CONNECTIONS = 16
STRETCHES = 10


def memory(folder: Path, requests: int) -> dict[str, object]:
    """Send `requests`: a fourth each make a source, charge it, read the charge, and list.

    Return the resident memory of the largest process after each tenth of them, in MB; `growth` is that after all over
    that after the first tenth, by when everything is loaded.
    """
    load = Load(folder, CONNECTIONS)
    with web_process(folder) as (url, pid):
        client = Client(load, int(url.rpartition(":")[2]), create_merchant("Sari Store").keys["sk_test"])
        megabytes = [_after(client, requests // STRETCHES, pid) for _ in range(STRETCHES)]
    return {"requests": requests, "megabytes": megabytes, "growth": round(megabytes[-1] / megabytes[0], 3)}


def _after(client: Client, requests: int, pid: int) -> float:
    each = requests // 4
    client.send(list(_reads(client, client.charged(each))))
    return round(memory_mb(pid), 1)


def _reads(client: Client, charges: Sequence[str]) -> Iterator[str]:
    for charge in charges:
        yield client.request("GET", f"/v2/charges/{charge}")
        yield client.page()
