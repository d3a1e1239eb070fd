"""The guide's receiver in Python, run as it is shown. Those in other languages need what a newcomer has not."""

import base64
import hmac
import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import call_command

from payments import clock
from payments.webhooks.signatures import Signer
from tests.guides.receiver import receiver_of_the_guide
from tests.guides.texts import blocks_of

GUIDE = "templates/guides/webhooks.md"
SECRET = f"whsec_{base64.b64encode(b'known to the test only').decode()}"
EVENT_LINE = re.compile(r"^(\S+) ch_[0-9a-f]{32} (\S+)$", re.MULTILINE)


def code_of(language: str, words: str) -> str:
    """Return the one block of the guide in `language` that has `words` in it."""
    [code] = [block.code for block in blocks_of(GUIDE) if block.language == language and words in block.code]
    return code


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """Where the receiver listens; it writes to `output` in its folder."""
    with receiver_of_the_guide(tmp_path, SECRET) as number:
        yield number


def without_times(text: str) -> list[str]:
    """Return the lines of a report, without how long each event took."""
    return [re.sub(r" *\d+ ms", "", line).rstrip() for line in text.strip().splitlines()]


def test_the_receiver_in_python_handles_all_properly_and_acts_once(port: int, tmp_path: Path) -> None:
    output = io.StringIO()
    (tmp_path / "secret").write_text(SECRET)
    call_command(
        "check_receiver", f"http://127.0.0.1:{port}/", "--secret-file", str(tmp_path / "secret"), stdout=output
    )
    assert "6 of 6 handled properly" in output.getvalue()
    assert without_times(output.getvalue()) == without_times(code_of("text", "a forged event"))
    acted_on = EVENT_LINE.findall((tmp_path / "output").read_text())
    assert acted_on == [("charge.created", "pending"), ("charge.succeeded", "succeeded")]


def test_the_line_for_the_plain_header_accepts_the_signed_body_alone() -> None:
    line = code_of("python", "compare_digest")
    headers = Signer([SECRET], "X-Kaha").headers_of("evt_1", b"{}", clock.now())
    assert eval(line, {"hmac": hmac, "headers": headers, "KAHA_WEBHOOK_SECRET": SECRET, "body": b"{}"}) is True
    assert eval(line, {"hmac": hmac, "headers": headers, "KAHA_WEBHOOK_SECRET": SECRET, "body": b"[]"}) is False
