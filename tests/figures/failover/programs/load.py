"""Programs of merchants: `python -m tests.figures.failover.programs.load URL KEY SEED FILE`, until SIGTERM.

Each answer is a line of FILE as it comes; the last line is what was acknowledged.
"""

import asyncio
import json
import signal
import sys
import time
from pathlib import Path
from typing import Any, TextIO

import aiohttp

from tests.figures.failover.cluster.kaha import HOOK
from tests.figures.money.lasting_load import Load
from tests.figures.money.merchant_program import Answer, Program, program

CLIENTS = 6
PAUSE_SECONDS = 0.3
# A payment that gets no answer for longer is sent again under its key.
TIMEOUT_SECONDS = 60
# How long orders that have begun are taken to their end.
END_SECONDS = 90


class LoggedLoad(Load):
    """Orders with pauses, and a line for each answer."""

    def __init__(self, key: str, seed: int, log: TextIO) -> None:
        super().__init__(key, seed, redirect={"success": HOOK, "fail": HOOK, "notify": HOOK})
        self._log = log

    async def run(self, url: str) -> None:
        """Send orders until SIGTERM, and take those that have begun to their end."""
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self._ended.set)
        async with program(url, self._key, TIMEOUT_SECONDS) as shop:
            working = asyncio.gather(*(self._work(shop) for _ in range(CLIENTS)))
            while not self._ended.is_set():
                await asyncio.sleep(PAUSE_SECONDS)
            try:
                await asyncio.wait_for(working, END_SECONDS)
            except TimeoutError:
                self._write({"left": True})
        self._write({"acknowledged": list(self.acknowledged.values()), "abandoned": self.abandoned})

    async def _take(self, shop: Program, number: int) -> None:
        await super()._take(shop, number)
        await asyncio.sleep(PAUSE_SECONDS)

    async def _post(self, shop: Program, path: str, body: dict[str, Any], key: str) -> Answer:
        verb = path.rstrip("/").rpartition("/")[2]
        began = time.time()
        try:
            answer = await super()._post(shop, path, body, key)
        except (aiohttp.ClientError, TimeoutError) as error:
            self._write({"at": time.time(), "began": began, "verb": verb, "error": type(error).__name__})
            raise
        answered = {"status": answer.status, "code": _code_of(answer)}
        self._write({"at": time.time(), "began": began, "verb": verb, **answered})
        return answer

    def _write(self, line: dict[str, Any]) -> None:
        self._log.write(f"{json.dumps(line)}\n")


def _code_of(answer: Answer) -> str:
    try:
        return answer.code
    except (ValueError, KeyError):
        return "not in kaha's form"


def main(url: str, key: str, seed: str, file: Path) -> None:
    with file.open("w", buffering=1) as log:
        asyncio.run(LoggedLoad(key, int(seed), log).run(url))


if __name__ == "__main__":
    main(*sys.argv[1:4], Path(sys.argv[4]))
