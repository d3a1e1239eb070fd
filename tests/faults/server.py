"""The simulator as real providers are: another process, reached over HTTP, with books that no fault of ours undoes."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from multiprocessing.connection import Connection
from urllib.parse import parse_qsl, urlsplit

from payments.providers.base import Outcome, PayoutOutcome
from payments.providers.simulator.connector import Simulator
from tests.faults.processes import forked, listener, port_of
from tests.faults.wire import from_wire, to_wire

SIMULATOR = Simulator()
VERBS = ("create_payment", "capture", "void", "cancel", "refund", "extend", "resolve", "respond")
PAYOUTS = ("create_payout", "find_payout")


@contextmanager
def simulator_server() -> Iterator[int]:
    """Yield the port on which a simulator answers during the block."""
    with listener() as listening:

        def serve(_: Connection) -> None:
            server = HTTPServer(listening.getsockname(), Handler, bind_and_activate=False)
            server.socket = listening
            server.serve_forever()

        with forked(serve):
            yield port_of(listening)


class Handler(BaseHTTPRequestHandler):
    """`POST /capture` with an operation, `POST /continue_payment?otp=123456` with a payment, and so on."""

    # A caller that was cut off must not keep the others waiting.
    timeout = 5

    def do_POST(self) -> None:
        asked = self.rfile.read(int(self.headers["Content-Length"]))
        answer = to_wire(self._outcome(asked))
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *arguments: object) -> None:
        """Nothing: what is asked holds card numbers."""

    def _outcome(self, asked: bytes) -> Outcome | PayoutOutcome:
        address = urlsplit(self.path)
        verb = address.path.removeprefix("/")
        if verb == "continue_payment":
            return SIMULATOR.continue_payment(from_wire(asked), dict(parse_qsl(address.query)))
        assert verb in VERBS + PAYOUTS
        outcome: Outcome | PayoutOutcome = getattr(SIMULATOR, verb)(from_wire(asked))
        return outcome
