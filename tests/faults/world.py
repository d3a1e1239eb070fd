"""Everything outside of kaha that a history needs, each in a process of its own."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from django.db import connection, transaction

from payments.domain.merchants.merchants import create_merchant
from tests.client import Api
from tests.faults.jobs import Done, Exposed, Fault, cut_of
from tests.faults.processes import Ending, Job, Nursery, forked, nursery
from tests.faults.proxy import Cut, Proxy, proxy
from tests.faults.server import simulator_server
from tests.support.receiver import Call, Receiver


class World:
    """A provider, a network that fails, a merchant's endpoint, and processes that may die."""

    def __init__(self, provider_port: int, network: Proxy, processes: Nursery, endpoint: "Endpoint") -> None:
        self.provider_port = provider_port
        self.endpoint = endpoint
        self._network = network
        self._processes = processes

    def expose(self, job: Job, fault: Fault, meanwhile: Callable[[], None] = lambda: None) -> Ending:
        """Run `job` in a process with `fault`; return when nothing of it is under way any more.

        Does `meanwhile` here when that process stalls, before it continues.
        """
        cut = cut_of(fault)
        port = self._network.ports[cut] if cut else self.provider_port
        ending = self._processes.run(Exposed(job, port, fault), meanwhile)
        if not isinstance(ending.result, Done):
            return ending
        if cut and cut is not Cut.REFUSED:
            self._network.wait_for(ending.result.calls)
        return Ending(ending.result.result, ending.killed)


class Endpoint:
    """A merchant's endpoint that notes the ID of each event in a file."""

    def __init__(self, url: str, noticed: Path) -> None:
        self.url = url
        self._lines = noticed.open()
        self._noticed: set[str] = set()

    def noticed(self) -> set[str]:
        """Return the IDs of all events so far."""
        self._noticed.update(line.strip() for line in self._lines)
        return self._noticed


@contextmanager
def world() -> Iterator[World]:
    """Yield a world during the block; the caller has no database connection afterwards."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        _warm_up()
        port = stack.enter_context(simulator_server())
        network = stack.enter_context(proxy(port))
        processes = stack.enter_context(nursery())
        yield World(port, network, processes, stack.enter_context(_endpoint(folder / "noticed")))


def _warm_up() -> None:
    """Has everything loaded that a request loads once, and leaves nothing behind."""
    with transaction.atomic():
        api = Api(create_merchant("Warm Store").keys["sk_test"])
        api.post(f"/charges/{api.held()['id']}/capture")
        transaction.set_rollback(True)
    connection.close()


@contextmanager
def _endpoint(noticed: Path) -> Iterator[Endpoint]:
    noticed.touch()

    def listen(pipe: Connection) -> None:
        with noticed.open("a", buffering=1) as file, Receiver(reply=_noted_in(file)) as receiver:
            pipe.send(receiver.url)
            pipe.recv()

    with forked(listen) as pipe:
        yield Endpoint(pipe.recv(), noticed)


def _noted_in(file: Any) -> Callable[[Call], int]:
    def note(call: Call) -> int:
        file.write(f"{call.event_id}\n")
        return 200

    return note
