"""A part of the service under load, and views beside it, each with the requests it needs."""

from dataclasses import dataclass, field
from math import ceil

from tests.benchmark.figures import Figures
from tests.benchmark.making import Maker
from tests.benchmark.measuring import measured
from tests.benchmark.parts import Part
from tests.benchmark.sending import Answers, Request
from tests.benchmark.side_servers import SideServer

# So many more are made ready than the fastest stretch so far would have used up.
MARGIN = 1.5
EXAMPLES_PER_CONNECTION = 10


@dataclass
class Verb:
    """Measures a part; `ids` are those of all that it was answered, `sample` is its last answer.

    A stretch for which too few requests were ready ends when they are sent, and its figures are of that time.
    """

    part: Part
    maker: Maker
    pids: dict[str, int]
    ids: list[str] = field(default_factory=list)
    sample: str = ""
    examples: list[Request] = field(default_factory=list)
    _ready: list[Request] = field(default_factory=list)
    _per_second: float = 0

    def warm_up(self) -> None:
        """Send the examples, not measured; the last answer is the sample."""
        self._make_ready(EXAMPLES_PER_CONNECTION * self.maker.load.connections)
        self.examples = self._ready[:]
        answers = self._send()
        self.sample = answers.sample
        self._per_second = answers.count / answers.seconds

    def measure(self, seconds: float) -> Figures:
        """One stretch. Raises Failed where an answer is not one of success."""
        if not self.part.repeats:
            self._make_ready(ceil(self._per_second * seconds * MARGIN))
        _, figures = measured(lambda: self._send(seconds), self.pids)
        self._per_second = max(self._per_second, figures.per_second)
        return figures

    def _make_ready(self, count: int) -> None:
        lacking = count - len(self._ready)
        if lacking > 0:
            self._ready += self.part.make(self.maker, lacking)

    def _send(self, seconds: float | None = None) -> Answers:
        """Send what is ready, for `seconds` or each once."""
        again = self.part.repeats and seconds is not None
        answers = self.maker.send(self._ready, seconds, again)
        if not self.part.repeats:
            del self._ready[: answers.count]
        self.ids += answers.ids
        return answers


@dataclass(frozen=True)
class Beside:
    """Measures a view of another server by what is sent to a verb."""

    verb: Verb
    server: SideServer

    def measure(self, seconds: float) -> Figures:
        """One stretch. Raises Failed where an answer is not one of success."""
        name, maker = self.verb.part.name, self.verb.maker
        texts = [
            Request(one.method, f"/{name}", one.body, one.key).text(maker.secret_key) for one in self.verb.examples
        ]
        return measured(
            lambda: maker.load.send(self.server.port, texts, seconds, again=True), {"server": self.server.pid}
        )[1]
