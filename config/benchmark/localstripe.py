"""localstripe, a peer that merchants' own tests run, to be faster than. It rewrites its whole store at each change."""

import json
import os
import subprocess  # nosec B404 # programs of ours and of its own environment, never a shell
import sys
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode

from config.benchmark.figures import Figures
from config.benchmark.measuring import measured
from config.benchmark.sending import Load
from payments.quickstart import ports
from payments.quickstart.payment import CARD, ORDER
from payments.quickstart.servers.processes import spawn, stop
from payments.quickstart.supervisor import Supervisor

PACKAGE = "localstripe==1.15.10"
# Wherever it is started, its store would lie at one path for all: here it lies in the folder that it is started in.
START = """
from localstripe import resources, server
resources.open = lambda path, mode: open("store.pickle", mode)
server.start()
"""
CARD_FIELDS = ("number", "exp_month", "exp_year", "cvc")
HEADERS = {"Authorization": "Bearer sk_test_x", "Content-Type": "application/x-www-form-urlencoded"}
STORED, MEASURED = 1600, 200
TIMEOUT_SECONDS = 300


@dataclass
class Localstripe:
    """Measures it, installed below `folder` from the package index: `fresh`, and then `full`.

    One card serves for all charges, so that its store holds no more than them.
    """

    folder: Path
    load: Load
    supervisor: Supervisor
    _process: "subprocess.Popen[bytes] | None" = None
    _port: int = 0
    _charge: str = ""

    def install(self) -> None:
        """Raises Failed where there is no index."""
        self._run(Path(sys.executable), "venv", str(self.folder))
        self._run(self._python, "pip", "install", "--quiet", PACKAGE)

    def fresh(self) -> Figures:
        """Its first charges. Raises Failed where one is refused."""
        self.stop()
        self._start()
        return self._measured()

    def full(self) -> Figures:
        """Its charges after STORED others."""
        self.load.send(self._port, [self._charge] * (STORED - MEASURED))
        return self._measured()

    def stop(self) -> None:
        if self._process:
            stop(self._process, timeout_seconds=5)

    def _measured(self) -> Figures:
        pids = {"server": self._process.pid} if self._process else {}
        return measured(lambda: self.load.send(self._port, [self._charge] * MEASURED), pids)[1]

    def _start(self) -> None:
        with ports.claim(0) as claimed:
            self._port = claimed.getsockname()[1]
        command: list[str | Path] = [self._python, "-c", START, "--from-scratch", f"--port={self._port}"]
        self._process = spawn(command, log=self._log, environment=os.environ, cwd=self.folder)
        self.supervisor.wait_for("localstripe", self._listens, TIMEOUT_SECONDS)
        card = self._new_card()
        self._charge = _text({"amount": ORDER["amount"], "currency": "php", "source": card})

    def _listens(self) -> bool:
        try:
            HTTPConnection(ports.HOST, self._port).connect()
        except OSError:
            return False
        return True

    def _new_card(self) -> str:
        connection = HTTPConnection(ports.HOST, self._port, timeout=TIMEOUT_SECONDS)
        body = {f"card[{name}]": CARD[name] for name in CARD_FIELDS}
        connection.request("POST", "/v1/tokens", urlencode(body), HEADERS)
        return str(json.load(connection.getresponse())["card"]["id"])

    def _run(self, python: Path, *arguments: str) -> None:
        process = spawn([python, "-m", *arguments], log=self._log, environment=os.environ, cwd=self.folder.parent)
        self.supervisor.wait_for_end("installing localstripe", process, self._log, TIMEOUT_SECONDS)

    @property
    def _python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def _log(self) -> Path:
        return self.folder.with_suffix(".log")


def _text(body: dict[str, object]) -> str:
    form = urlencode(body)
    headers = {"Host": ports.HOST, **HEADERS, "Content-Length": len(form)}
    lines = [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join(["POST /v1/charges HTTP/1.1", *lines, "", form])
