"""README's receiver in Python, run as it stands there. Those in other languages need what a newcomer has not."""

import base64
import hmac
import io
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import call_command

from payments import clock
from payments.notifications.signing import Signer
from payments.quickstart.servers.processes import wait_until

README = (Path(__file__).resolve().parents[2] / "README.md").read_text()
SECRET = f"whsec_{base64.b64encode(b'known to the test only').decode()}"
EVENT_LINE = re.compile(r"^(\S+) ch_[0-9a-f]{32} (\S+)$", re.MULTILINE)


def code_of(language: str, words: str) -> str:
    """The one block of README in `language` that has `words` in it."""
    [code] = [block for block in re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL) if words in block]
    return code


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """Where the receiver listens; it writes to `said` in its folder."""
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        number = trial.getsockname()[1]
    (tmp_path / "receiver.py").write_text(code_of("python", "# receiver.py"))
    environment = os.environ | {"WHSEC": SECRET, "PORT": str(number)}
    with (tmp_path / "said").open("w") as said:
        process = subprocess.Popen([sys.executable, "receiver.py"], cwd=tmp_path, env=environment, stdout=said)
    try:
        assert wait_until(lambda: _listens(number), 20)
        yield number
    finally:
        process.kill()
        process.wait()


def _listens(port: int) -> bool:
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", port)) == 0


def test_the_receiver_in_python_handles_all_properly_and_acts_once(port: int, tmp_path: Path) -> None:
    output = io.StringIO()
    call_command("check_receiver", f"http://127.0.0.1:{port}/", "--secret", SECRET, stdout=output)
    assert "6 of 6 handled properly" in output.getvalue()
    acted_on = EVENT_LINE.findall((tmp_path / "said").read_text())
    assert acted_on == [("charge.created", "pending"), ("charge.succeeded", "succeeded")]


def test_the_line_for_the_plain_header_tells_right_from_wrong() -> None:
    line = code_of("python", "compare_digest")
    headers = Signer([SECRET], "X-Kaha").headers_of("evt_1", b"{}", clock.now())
    assert eval(line, {"hmac": hmac, "headers": headers, "WHSEC": SECRET, "body": b"{}"}) is True
    assert eval(line, {"hmac": hmac, "headers": headers, "WHSEC": SECRET, "body": b"[]"}) is False
