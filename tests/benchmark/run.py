"""The loop over all that is measured, and the books afterwards."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import ceil
from typing import Any

from payments.models import Charge
from tests.benchmark import books
from tests.benchmark.beside.slow import Slow
from tests.benchmark.clients.client import Answers, Client, Load
from tests.benchmark.clients.seeded_charges import seed
from tests.benchmark.figures import Figures, measured
from tests.benchmark.options import Options
from tests.benchmark.parts import PEERS, Part
from tests.benchmark.peers.start import PeerClient, started_peers
from tests.benchmark.report import report
from tests.benchmark.servers import Service, SideServer, side_server
from tests.support.processes import running_module

# So many more requests are made ready than the fastest stretch so far would have used up.
MARGIN = 1.5
EXAMPLES_PER_CONNECTION = 10
WARM_UP_SECONDS = 0.5

# Of each that is measured, its name, and what measures one stretch. That raises Failed where a request is refused.
Contenders = Iterator[tuple[str, Callable[[], Figures]]]


def run(options: Options, service: Service, beside: Mapping[str, Service]) -> dict[str, Any]:
    """Measure the chosen parts and what is beside them in turn, and hold the books against the answers. Raises Failed.

    Each is measured once in every round.
    """
    with ExitStack() as cleanup:
        bench = Bench(options, service, beside, cleanup)
        contenders = dict(bench.contenders())
        rounds: dict[str, list[Figures]] = {name: [] for name in contenders}
        for number in range(1, options.rounds + 1):
            for name, measure in contenders.items():
                rounds[name].append(measure())
                rate = f"{rounds[name][-1].per_second:.0f} per second"
                print(f"kaha: round {number} of {options.rounds}: {name}, {rate}", file=sys.stderr)
        print("kaha: looking at the books", file=sys.stderr)
        return report(options, rounds, bench.books())


@dataclass
class Trial:
    """A part under load; `ids` are those of all that it was answered, `sample` is its last answer.

    A stretch for which too few requests were ready ends when they are sent, and its figures are of that time.
    """

    part: Part
    client: Client
    after: Callable[[], None] = lambda: None
    ids: list[str] = field(default_factory=list)
    sample: str = ""
    examples: Sequence[str] = ()
    _ready: list[str] = field(default_factory=list)
    _per_second: float = 0

    def warm_up(self) -> None:
        """Send the examples, not measured; the last answer is the sample."""
        self._make_ready(EXAMPLES_PER_CONNECTION * self.client.load.connections)
        self.examples = self._ready[:]
        self._per_second = measured(self._send, {}).per_second

    def measure(self, seconds: float) -> Figures:
        """Measure one stretch, and do what must be done `after` it."""
        if not self.part.again:
            self._make_ready(ceil(self._per_second * seconds * MARGIN))
        figures = measured(partial(self._send, seconds), self.client.pids)
        self._per_second = max(self._per_second, figures.per_second)
        self.after()
        return figures

    def measure_beside(self, server: SideServer, seconds: float) -> Figures:
        """Measure one stretch of another server's view, by the same requests."""
        requests = []
        for example in self.examples:
            method, _, rest = example.split(" ", 2)
            requests.append(f"{method} /{self.part.name} {rest}")
        send = partial(self.client.load.send, server.port, requests, seconds, again=True)
        return measured(send, {"server": server.pid})

    def _make_ready(self, count: int) -> None:
        lacking = count - len(self._ready)
        if lacking > 0 and self.part.make:
            self._ready += self.part.make(self.client, lacking)

    def _send(self, seconds: float | None = None) -> Answers:
        """Send what is ready, for `seconds` or each once."""
        answers = self.client.send(self._ready, seconds, again=self.part.again and seconds is not None)
        if not self.part.again:
            del self._ready[: answers.count]
        self.ids += answers.ids
        self.sample = answers.sample
        return answers


class Bench:
    """All that is measured of a service and of those beside it; `cleanup` ends what was started for that."""

    def __init__(self, options: Options, service: Service, beside: Mapping[str, Service], cleanup: ExitStack) -> None:
        self._options, self._service, self._beside, self._cleanup = options, service, beside, cleanup
        self._client = self._client_of(service)
        # The quickstart has taken a payment of its own before.
        self._others = Charge.objects.count()
        self._outbox: books.Outbox | None = None
        self._trials: dict[str, Trial] = {}

    def contenders(self) -> Contenders:
        """Yield all, warmed up, in the order in which they take their turns."""
        options = self._options
        if options.asks_for("callbacks"):
            receiver = self._cleanup.enter_context(running_module("tests.support.receiver"))
            self._outbox, self._client.receiver = books.Outbox(receiver), receiver.output.strip()
        if options.charges:
            self._client.seeded = seed(self._client, options.charges)
            self._others += self._client.seeded.charges
        for part in options.parts:
            if part.make:
                self._trials[part.name] = self._warm(part, self._client)
        yield from self._of_parts()
        if options.asks_for("slow"):
            yield from Slow(self._beside["slow"], options.seconds).contenders()

    def books(self) -> books.Books:
        """Return what the books say of all that was answered."""
        answered = {name: trial.ids for name, trial in self._trials.items()}
        callbacks = self._outbox.delivery(answered["callbacks"]) if self._outbox else None
        return books.check(answered, self._client.charges, self._others, bool(self._options.charges), callbacks)

    def _of_parts(self) -> Contenders:
        for name, trial in self._trials.items():
            yield name, partial(trial.measure, self._options.seconds)
            for other in trial.part.beside:
                yield f"{name}/{other}", self._other(trial, other)

    def _other(self, trial: Trial, name: str) -> Callable[[], Figures]:
        """Return what measures one of those beside a part."""
        seconds = self._options.seconds
        if name == "plain":
            trial.measure_beside(self._plain, WARM_UP_SECONDS)
            return partial(trial.measure_beside, self._plain, seconds)
        client = self._peers[name] if name in PEERS else self._client_of(self._beside[name])
        return partial(self._warm(trial.part, client).measure, seconds)

    @cached_property
    def _plain(self) -> SideServer:
        file = self._service.data / "samples.json"
        file.write_text(json.dumps({name: json.loads(trial.sample) for name, trial in self._trials.items()}))
        return self._cleanup.enter_context(side_server("plain", self._service.data, SAMPLES=str(file)))

    @cached_property
    def _peers(self) -> Mapping[str, PeerClient]:
        started = started_peers(self._service, self._client.load, self._options.charges)
        return self._cleanup.enter_context(started)

    def _warm(self, part: Part, client: Client) -> Trial:
        trial = Trial(part, client)
        if self._outbox and part.name == "callbacks":
            trial.after = self._outbox.drain
        trial.warm_up()
        return trial

    def _client_of(self, service: Service) -> Client:
        load = Load(service.data, self._options.connections)
        return Client(load, service.port, service.secret_key, service.pids)
