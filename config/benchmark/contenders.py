"""Who is measured: parts of the service, what stands beside each, and their floors."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

from config.benchmark.callbacks import Callbacks
from config.benchmark.figures import Figures
from config.benchmark.floors import Pgbench
from config.benchmark.localstripe import Localstripe
from config.benchmark.making import Maker
from config.benchmark.options import Options
from config.benchmark.parts import Part
from config.benchmark.sending import Load
from config.benchmark.service import Service
from config.benchmark.side_servers import SideServer, plain_server, receiver_server, usual_server
from config.benchmark.slow import Slow
from config.benchmark.verbs import Beside, Verb
from payments.quickstart.ports import HOST
from payments.quickstart.supervisor import Supervisor

if TYPE_CHECKING:
    # It needs Django's settings, which there are none of when this is loaded.
    from config.benchmark.books import Books

# Each is measured by being called, once in every round.
Contenders = Mapping[str, Callable[[], Figures]]
Named = Iterator[tuple[str, Callable[[], Figures]]]


class Field:
    """All that is measured of `service` and of the services beside it; `cleanup` ends what was started for that."""

    def __init__(
        self,
        service: Service,
        beside: Mapping[str, Service],
        options: Options,
        supervisor: Supervisor,
        cleanup: ExitStack,
    ) -> None:
        self._service, self._beside, self._options = service, beside, options
        self._supervisor, self._cleanup = supervisor, cleanup
        self._maker = self._maker_of(service)
        self._verbs: list[Verb] = []
        self._callbacks: Callbacks | None = None

    def contenders(self) -> Contenders:
        """All, warmed up, in the order in which they take their turns. Raises Failed or Stopped."""
        if self._options.asks_for("callbacks"):
            receiver = self._cleanup.enter_context(receiver_server(self._service.places, self._supervisor))
            self._callbacks = Callbacks(receiver.port, self._supervisor)
            self._maker.receiver = f"http://{HOST}:{receiver.port}/"
        if self._options.charges:
            # Its module needs the settings, as that of the books does.
            from config.benchmark.seeding import seed

            self._maker.seeded = seed(self._maker, self._options.charges)
        self._verbs = [self._warm(part, self._maker, self._service) for part in self._options.parts]
        return dict([*self._of_parts(), *self._floors(), *self._others()])

    def books(self) -> "Books":
        """What the books say of all that was answered."""
        from config.benchmark import books

        answered = {verb.part.name: verb.ids for verb in self._verbs}
        told = self._callbacks.told(answered["callbacks"]) if self._callbacks else None
        return books.check(answered, self._maker.charges, self._maker.seeded.charges, told)

    def _of_parts(self) -> Named:
        servers = self._side_servers()
        for verb in self._verbs:
            name, measure = verb.part.name, partial(verb.measure, self._options.seconds)
            is_told = self._callbacks is not None and name == "callbacks"
            yield name, partial(self._callbacks.wait_after, measure) if self._callbacks and is_told else measure
            for other in verb.part.beside:
                yield f"{name}/{other}", self._measure_beside(verb, other, servers)

    def _measure_beside(self, verb: Verb, other: str, servers: Mapping[str, SideServer]) -> Callable[[], Figures]:
        if other in self._beside:
            service = self._beside[other]
            verb = self._warm(verb.part, self._maker_of(service), service)
            return partial(verb.measure, self._options.seconds)
        return partial(Beside(verb, servers[other]).measure, self._options.seconds)

    def _floors(self) -> Named:
        options, service = self._options, self._service
        pgbench = Pgbench(
            service.places, service.pids["postgres"], options.connections, options.seconds, self._supervisor
        )
        pgbench.make_schema()
        for script in {part.floor: None for part in options.parts if part.floor}:
            yield script, partial(pgbench.measure, script)

    def _others(self) -> Named:
        if self._options.asks_for("slow"):
            yield from Slow(self._beside["slow"], self._options.seconds, self._supervisor).contenders()
        if self._options.asks_for("localstripe"):
            peer = Localstripe(self._service.places.data / "localstripe", self._maker.load, self._supervisor)
            self._cleanup.callback(peer.stop)
            peer.install()
            yield "localstripe", peer.fresh
            yield "localstripe/full", peer.full

    def _side_servers(self) -> Mapping[str, SideServer]:
        """Those that stand beside some of the parts."""
        samples = {verb.part.name: verb.sample for verb in self._verbs}
        places, wanted = self._service.places, {name for verb in self._verbs for name in verb.part.beside}
        servers = {
            "plain": lambda: plain_server(places, samples, self._supervisor),
            "usual": lambda: usual_server(places, self._supervisor),
        }
        return {name: self._cleanup.enter_context(servers[name]()) for name in servers.keys() & wanted}

    def _warm(self, part: Part, maker: Maker, service: Service) -> Verb:
        verb = Verb(part, maker, service.measured_pids)
        verb.warm_up()
        return verb

    def _maker_of(self, service: Service) -> Maker:
        load = Load(service.places.data, self._options.connections, self._supervisor)
        return Maker(load, service.port, service.secret_key)
