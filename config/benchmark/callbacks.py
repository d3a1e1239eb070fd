"""Callbacks, which the worker delivers to an endpoint of ours while their charges are made."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.client import HTTPConnection

from config.benchmark.figures import Figures
from payments.ids import parse_id
from payments.quickstart.ports import HOST
from payments.quickstart.supervisor import Supervisor

TIMEOUT_SECONDS = 600


@dataclass(frozen=True)
class Told:
    """How many `events` there were, how many of them are `delivered` or wait in the `outbox`, and were `received`.

    `left` are those that waited when a stretch of load ended, of the stretch that left most.
    """

    events: int
    delivered: int
    outbox: int
    received: int
    left: int

    @property
    def is_complete(self) -> bool:
        return self.events == self.delivered + self.outbox and self.received >= self.delivered


@dataclass
class Callbacks:
    """Measures charges whose sources name the endpoint at `port`."""

    port: int
    supervisor: Supervisor
    _left: list[int] = field(default_factory=list)

    def wait_after(self, measure: Callable[[], Figures]) -> Figures:
        """One stretch; what it leaves in the outbox is delivered before anything else is measured."""
        figures = measure()
        self._left.append(_in_state("waiting"))
        self.supervisor.wait_for("the outbox", lambda: not _in_state("waiting"), TIMEOUT_SECONDS)
        return figures

    def told(self, charges: Sequence[str]) -> Told:
        """What became of the events of these charges, which are all that name the endpoint."""
        from payments.models import Event

        ids = [parse_id("ch", charge) for charge in charges]
        return Told(
            events=Event.objects.extra(where=["object_id = ANY(%s::uuid[])"], params=[ids]).count(),
            delivered=_in_state("delivered"),
            outbox=_in_state("waiting"),
            received=self._received(),
            left=max(self._left, default=0),
        )

    def _received(self) -> int:
        connection = HTTPConnection(HOST, self.port)
        connection.request("GET", "/")
        return int(connection.getresponse().read())


def _in_state(state: str) -> int:
    # Its module needs the settings, which lead to the service's database only once that runs.
    from payments.models import Notification

    return Notification.objects.filter(state=state).count()
