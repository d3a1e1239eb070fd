"""The guide's programs that take a payment with a session, run as they are shown, and its event."""

import os
import re
import shutil
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from payments.domain.merchants.merchants import NewMerchant
from tests.checkout.cast import opened, pay
from tests.client import Api, made
from tests.guides.texts import blocks_of, differences, shown_json
from tests.support.processes import running
from tests.support.web import web_server

BLOCKS = blocks_of("templates/guides/checkout.md")
PROGRAMS = {"python": ("checkout.py", sys.executable), "js": ("checkout.mjs", "node"), "php": ("checkout.php", "php")}


def code_of(language: str) -> str:
    """Return the one program of the guide in `language`."""
    [code] = [block.code for block in BLOCKS if block.language == language]
    return code


@pytest.mark.long
@pytest.mark.tools
@pytest.mark.django_db(transaction=True)
def test_each_program_makes_a_session_and_sees_that_it_is_paid(shop: NewMerchant, tmp_path: Path) -> None:
    if lacking := [interpreter for _, interpreter in PROGRAMS.values() if shutil.which(interpreter) is None]:
        pytest.skip(f"no {lacking} is installed")
    with web_server(tmp_path, workers=1) as url, ExitStack() as stack:
        environment = os.environ | {"KAHA_URL": url, "KAHA_KEY": shop.keys["sk_test"]}
        started = {}
        for language, (name, interpreter) in PROGRAMS.items():
            (tmp_path / name).write_text(code_of(language))
            files = {"log": tmp_path / f"{name}.errors", "output": tmp_path / f"{name}.output"}
            starting = running([interpreter, name], **files, ready="Pay at .*\n", environment=environment, cwd=tmp_path)
            started[language] = stack.enter_context(starting)
        for program in started.values():
            found = re.fullmatch(rf"Pay at {url}/checkout/(cs_[0-9a-f]{{32}})\n", program.output)
            assert found
            pay({"id": found[1]})
            assert program.wait() == 0, program.errors
            assert program.output.splitlines()[1] == f"{found[1]} paid"


@pytest.mark.parametrize("language", PROGRAMS)
def test_a_program_has_as_many_lines_as_its_heading_says(language: str) -> None:
    lines = [line for line in code_of(language).splitlines()[1:] if line]
    assert len(lines) <= 15


@pytest.mark.django_db
def test_the_event_of_a_paid_session_is_as_the_guide_shows_it(api: Api) -> None:
    pay(opened(api, client_reference_id="cart-1001"))
    newest = made(api.get("/events/", type="checkout_session.completed"))["data"][0]
    [shown] = [shown_json(block.code) for block in BLOCKS if '"sequence"' in block.code]
    assert differences(shown, newest) == []
