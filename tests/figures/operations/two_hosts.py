"""What a second web host brings, what PostgreSQL has of a charge, and when one PostgreSQL is full."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from statistics import median
from urllib.parse import quote

from payments.domain.merchants.merchants import create_merchant
from payments.embedded import postgres
from payments.embedded.folders import Folders
from tests.benchmark.clients.client import LONGEST_SECONDS, Answers, Client, Load
from tests.benchmark.figures import MS, cpu_seconds
from tests.figures.failover.cluster.namespaces import NETWORK, Network, entered
from tests.ledger.books import charge_fees
from tests.support.postgres import Postgres
from tests.support.scratch import SETTINGS
from tests.support.web import web_process

CONNECTIONS = 16
WARM_UP_CHARGES = 160
PARTS, KINDS = ("web", "PostgreSQL"), ("source", "charge")
# At the peak, as the table in the guide to performance has it.
BUSY = 0.5
CORES = (8, 32, 64)
PORT = 5432


@dataclass(frozen=True)
class Web:
    """A web server with one process on one CPU, and the merchant's programs on the same host."""

    namespace: str
    client: Client
    pid: int

    def start(self, requests: Sequence[str], connections: int) -> Callable[[], Answers]:
        """Start to send `requests`; return what waits for the end."""
        load = Load(self.client.load.folder, connections, self.namespace)
        with entered(self.namespace):
            return load.start(self.client.port, requests, LONGEST_SECONDS)


def two_hosts(folders: Folders, rounds: int, charges: int) -> dict[str, object]:
    """Take `charges` by one web host and by two in each of the `rounds`, each of a source that the same hosts made.

    Hosts are network namespaces. Each web host has a CPU, which PostgreSQL and the load use too. It reaches PostgreSQL
    by TCP without TLS, and Redis by its socket. No worker runs.
    """
    if os.geteuid():
        sys.exit("The figure makes network namespaces, which takes root.")
    shop, cpus = create_merchant("Sari Store"), sorted(os.sched_getaffinity(0))
    charge_fees(shop.merchant)
    with ExitStack() as stack:
        network = Network()
        stack.callback(network.remove)
        network.make()
        url, database = stack.enter_context(_database(network, folders))
        client = Client(Load(folders.data, CONNECTIONS), 0, shop.keys["sk_test"])
        places = {"web1": cpus[0], "web2": cpus[-1]}
        webs = [stack.enter_context(_web(network, name, cpu, client, url)) for name, cpu in places.items()]
        hosts = {"one host": webs[:1], "two hosts": webs}
        for chosen in hosts.values():
            _measure(chosen, database, min(charges, WARM_UP_CHARGES))
        found = [{name: _measure(chosen, database, charges) for name, chosen in hosts.items()} for _ in range(rounds)]
    return summary(found)


def summary(rounds: Sequence[Mapping[str, Mapping[str, float]]]) -> dict[str, object]:
    """Return the medians of all rounds, those of two hosts over one, and what is reckoned from those of two.

    PostgreSQL is full when the share BUSY of its cores is used, if a charge takes it as much CPU at any rate and locks
    make none wait. A charge is reckoned with its source.
    """
    of = {name: {key: median(each[name][key] for each in rounds) for key in rounds[0][name]} for name in rounds[0]}
    ratios = {key: median(each["two hosts"][key] / each["one host"][key] for each in rounds) for key in of["two hosts"]}
    web, database = (sum(of["two hosts"][f"{part} ms of a {kind}"] for kind in KINDS) for part in PARTS)
    return {
        **{name: _rounded(figures) for name, figures in of.items()},
        "two hosts over one": _rounded(ratios),
        "PostgreSQL's share": round(database / (web + database), 2),
        "web cores for each core of PostgreSQL": round(web / database, 2),
        "charges per second at which PostgreSQL is full": {
            f"{cores} cores": round(cores * BUSY * MS / database) for cores in CORES
        },
    }


@contextmanager
def _database(network: Network, folders: Folders) -> Iterator[tuple[str, int]]:
    """Start the server again, on a host of its own; yield its address, and its process ID."""
    namespace, address = network.add_host("database")
    with (folders.cluster / "pg_hba.conf").open("a") as rules:
        rules.write(f"host all all {NETWORK} scram-sha-256\n")
    server = Postgres(folders.data)
    try:
        with entered(namespace):
            # The one that ran before is ended.
            pid = server.start(listen_addresses=address, **SETTINGS).pid
        yield f"postgresql://{postgres.USER}:{quote(server.password)}@{address}:{PORT}/{postgres.DATABASE}", pid
    finally:
        server.stop()


@contextmanager
def _web(network: Network, name: str, cpu: int, client: Client, url: str) -> Iterator[Web]:
    namespace, _ = network.add_host(name)
    cpus, settings = os.sched_getaffinity(0), {"workers": 1, "DATABASE_URL": url}
    with ExitStack() as stack:
        with entered(namespace):
            # The programs that are started have the CPU of who starts them.
            os.sched_setaffinity(0, {cpu})
            try:
                url, pid = stack.enter_context(web_process(client.load.folder, **settings))
            finally:
                os.sched_setaffinity(0, cpus)
        yield Web(namespace, replace(client, port=int(url.rpartition(":")[2])), pid)


def _measure(webs: Sequence[Web], postgres_pid: int, charges: int) -> dict[str, float]:
    """Return the rate of charges, and the CPU of each part for a source and for a charge."""
    requests, figures = webs[0].client.new_sources(charges), dict[str, float]()
    for kind in KINDS:
        before = _cpu_ms(webs, postgres_pid)
        answers = _send(webs, requests)
        for part, spent in _cpu_ms(webs, postgres_pid).items():
            figures[f"{part} ms of a {kind}"] = (spent - before[part]) / charges
        ids = [each for answer in answers for each in answer.ids]
        requests = webs[0].client.new_charges(ids)
    return {"charges per second": sum(answer.count / answer.seconds for answer in answers)} | figures


def _send(webs: Sequence[Web], requests: Sequence[str]) -> list[Answers]:
    """Send an equal share to each host, over as many connections in all whatever their number."""
    hosts = len(webs)
    loads = [web.start(requests[number::hosts], CONNECTIONS // hosts) for number, web in enumerate(webs)]
    return [load() for load in loads]


def _cpu_ms(webs: Sequence[Web], postgres_pid: int) -> dict[str, float]:
    web = sum(cpu_seconds(each.pid) for each in webs)
    return dict(zip(PARTS, (MS * web, MS * cpu_seconds(postgres_pid)), strict=True))


def _rounded(figures: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 2) for name, value in figures.items()}
