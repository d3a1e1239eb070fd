"""Whether web processes grow while they answer."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from config.benchmark.making import Maker, new_charges
from config.benchmark.parts import new_list
from config.benchmark.processes import memory_mb
from config.benchmark.sending import Load, Request
from payments.domain.merchants import create_merchant
from payments.quickstart.supervisor import Supervisor
from tests.figures.web import web_process

CONNECTIONS = 16
STRETCHES = 10


def memory(folder: Path, requests: int) -> dict[str, object]:
    """Sends `requests`, of which a fourth each make a source, charge it, read the charge, and list.

    Tells the resident memory of the largest process after each tenth of them, in MB; `growth` is that after all over
    that after the first tenth, by when everything is loaded.
    """
    load = Load(folder, CONNECTIONS, Supervisor())
    with web_process(folder) as (url, pid):
        maker = Maker(load, int(url.rpartition(":")[2]), create_merchant("Sari Store").keys["sk_test"])
        megabytes = [_after(maker, requests // STRETCHES, pid) for _ in range(STRETCHES)]
    return {"requests": requests, "megabytes": megabytes, "growth": round(megabytes[-1] / megabytes[0], 3)}


def _after(maker: Maker, requests: int, pid: int) -> float:
    each = requests // 4
    charges = maker.charge(new_charges(maker.sources(each)))
    maker.send(list(_reads(charges)))
    return round(memory_mb(pid), 1)


def _reads(charges: Sequence[str]) -> Iterator[Request]:
    for charge in charges:
        yield Request("GET", f"/v2/charges/{charge}")
        yield new_list()
