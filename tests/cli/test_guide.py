"""The commands of the guide, run in its order; what they print is as shown."""

import json
import re
import shlex
import tomllib
from collections.abc import Mapping

import pytest

from tests.cli.conftest import Service
from tests.cli.terminal import Running, Terminal
from tests.commands.receivers import receiving, verifies
from tests.guides.texts import Block, blocks_of, differences, shown_json

pytestmark = pytest.mark.long

GUIDE = "templates/guides/command-line.md"
RECEIVER = "http://localhost:3000/hook"


def line_pattern(line: str) -> str:
    """Return a pattern for a line that is shown: `…` stands for anything, times and durations for others."""
    pattern = re.sub(r"[0-9]{2}:[0-9]{2}:[0-9]{2}", "[0-9:]{8}", re.escape(line))
    return f"(?m)^{re.sub(r'[0-9]+(?=.? ms)', '[0-9]+', pattern).replace('…', '.*')}$"


def patterns_of(shown: Block, service: Service, receiver: str) -> list[str]:
    text = shown.code.replace("https://kaha.example", service.url).replace(RECEIVER, receiver)
    return [line_pattern(line) for line in text.splitlines() if line != "…"]


def test_each_command_answers_as_shown(terminal: Terminal, service: Service) -> None:
    blocks, charge = blocks_of(GUIDE), ""
    tails: list[tuple[Running, list[str]]] = []

    def judge(headers: Mapping[str, str], body: bytes) -> int:
        secret = tomllib.loads(terminal.profiles.read_text())["default"]["webhook_secret"]
        return 204 if verifies(secret)(headers, body) == 200 else 401

    with receiving(judge) as receiver:
        for block, after in zip(blocks, [*blocks[1:], Block("", "")], strict=True):
            if block.language != "sh" or "pip install" in block.code:
                continue
            command = block.code.replace("$CHARGE", charge).replace(RECEIVER, receiver.url)
            patterns = patterns_of(after, service, receiver.url) if after.language == "text" else []
            arguments = shlex.split(command)[1:]
            if arguments[0] == "listen" or "tail" in arguments:
                tails.append((terminal.start(*arguments), patterns))
                tails[-1][0].read_until("Waiting for what comes next")
                continue
            output = terminal.run(*arguments).succeeded()
            assert [pattern for pattern in patterns if not re.search(pattern, output)] == []
            if after.language == "json":
                assert differences(shown_json(after.code), json.loads(output)) == []
            found = re.search(r"ch_[0-9a-f]{32}", output)
            charge = found[0] if found else charge
        terminal.run("charges", "retrieve", "ch_1")
        for running, patterns in tails:
            for pattern in patterns:
                running.read_until(pattern)
            assert running.interrupt().code == 0
    assert len(tails) == 4


@pytest.mark.parametrize("line", ["14:01:07  charge.succeeded  evt_…  204  12 ms"])
def test_a_line_with_another_outcome_is_not_as_shown(line: str) -> None:
    assert re.search(line_pattern(line), "09:59:59  charge.succeeded  evt_01  204  3 ms")
    assert not re.search(line_pattern(line), "09:59:59  charge.succeeded  evt_01  401  3 ms")
    assert not re.search(line_pattern(line), "09:59:59  charge.failed  evt_01  204  3 ms")
