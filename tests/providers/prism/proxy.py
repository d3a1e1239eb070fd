"""Prism between a connector and the fake of its provider: only what the provider's description allows gets through."""

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from payments import ids
from payments.embedded.processes import wait_until
from payments.providers import http
from tests.providers.openapi import SPECS
from tests.support.processes import PATIENCE_SECONDS, running

LISTENING = re.compile(r"Prism is listening on (\S+)")
# The path, and what Prism calls it that was not as described. Of an answer that never came it says something else.
COMPLAINT = re.compile(r"(?:get|post|delete) (\S+) .*prism/errors#(\w+)")
END = "/that-is-all-"


@dataclass(frozen=True)
class Prism:
    """A Prism that listens at `url`."""

    url: str
    log: Path

    def complaints(self) -> list[tuple[str, str]]:
        """Return the path and the fault of every request and answer that breaks the description."""
        # It answers first and logs afterwards, but keeps the order.
        end = f"{END}{ids.new_id().hex}"
        http.send("GET", self.url + end, {})
        assert wait_until(lambda: any(path == end for path, _ in self._announced()), PATIENCE_SECONDS)
        return [(path, fault) for path, fault in self._announced() if not path.startswith(END)]

    def _announced(self) -> list[tuple[str, str]]:
        return COMPLAINT.findall(self.log.read_text())


@contextmanager
def prism_before(upstream: str, description: str) -> Iterator[Prism]:
    """Run a Prism before `upstream` that checks against this file of `specs/`; PRISM names the program."""
    with tempfile.TemporaryDirectory(prefix="kaha-prism-") as folder:
        log = Path(folder) / "log"
        command = [os.environ["PRISM"], "proxy", SPECS / description, upstream, "--errors", "--port", "0"]
        with running(command, log=log, ready=LISTENING.pattern, environment={"PATH": os.environ["PATH"]}) as program:
            yield Prism(LISTENING.findall(program.output)[0], log)
