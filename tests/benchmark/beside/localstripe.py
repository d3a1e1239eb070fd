"""localstripe, a peer that merchants' own tests run, to be faster than. It rewrites its whole store at each change."""

import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from payments.quickstart.payment import CARD, ORDER
from tests.benchmark.clients.client import Load
from tests.benchmark.clients.load import HOST
from tests.benchmark.figures import Figures, measured
from tests.support.processes import Program, free_port, start

PACKAGE = "localstripe==1.15.10"
# Its store would be at one path for all: here it is in the folder that it is started in.
START = """
from localstripe import resources, server
resources.open = lambda path, mode: open("store.pickle", mode)
server.start()
"""
CARD_FIELDS = ("number", "exp_month", "exp_year", "cvc")
HEADERS = {"Authorization": "Bearer sk_test_x", "Content-Type": "application/x-www-form-urlencoded"}
STORED, MEASURED = 1600, 200
TIMEOUT_SECONDS = 300


class Localstripe:
    """Measures it, installed below `folder` from the package index; its process ends with the context.

    One card serves for all charges, so that its store holds no more than them.
    """

    def __init__(self, folder: Path, load: Load) -> None:
        self._folder, self._load, self._log = folder, load, folder.with_suffix(".log")
        self._program: Program | None = None
        self._port, self._charge = 0, ""

    def __enter__(self) -> "Localstripe":
        return self

    def __exit__(self, *_: object) -> None:
        if self._program:
            self._program.stop()

    def contenders(self) -> Iterator[tuple[str, Callable[[], Figures]]]:
        """Install it and yield it, fresh and with STORED charges. Raises Failed where there is no index."""
        for python, *arguments in (
            (sys.executable, "venv", self._folder),
            (self._folder / "bin" / "python", "pip", "install", "--quiet", PACKAGE),
        ):
            start([python, "-m", *arguments], log=self._log, cwd=self._folder.parent).succeed(TIMEOUT_SECONDS)
        yield "localstripe", self._fresh
        yield "localstripe/full", self._full

    def _fresh(self) -> Figures:
        self.__exit__()
        self._port = free_port()
        command = [self._folder / "bin" / "python", "-c", START, "--from-scratch", f"--port={self._port}"]
        self._program = start(command, log=self._log, cwd=self._folder)
        self._program.wait_until(lambda: self._new_card() != "", TIMEOUT_SECONDS)
        order = {"amount": ORDER["amount"], "currency": "php", "source": self._new_card()}
        form = urlencode(order)
        headers = {"Host": HOST, **HEADERS, "Content-Length": len(form)}
        lines = [f"{name}: {value}" for name, value in headers.items()]
        self._charge = "\r\n".join(["POST /v1/charges HTTP/1.1", *lines, "", form])
        return self._measured()

    def _full(self) -> Figures:
        self._send(STORED - MEASURED)
        return self._measured()

    def _measured(self) -> Figures:
        pids = {"server": self._program.pid} if self._program else {}
        return measured(partial(self._send, MEASURED), pids)

    def _send(self, count: int) -> Any:
        return self._load.send(self._port, [self._charge] * count)

    def _new_card(self) -> str:
        """Return the ID of a new card, or nothing where localstripe does not listen yet."""
        connection = HTTPConnection(HOST, self._port, timeout=TIMEOUT_SECONDS)
        body = {f"card[{name}]": CARD[name] for name in CARD_FIELDS}
        try:
            connection.request("POST", "/v1/tokens", urlencode(body), HEADERS)
        except ConnectionRefusedError:
            return ""
        return str(json.load(connection.getresponse())["card"]["id"])
