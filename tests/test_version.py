"""Where the version of kaha is shown, and to whom it is not."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from payments import VERSION, described
from payments.embedded.folders import PROJECT
from payments.embedded.processes import wait_until
from tests.support.web import managed_web
from tests.support.worker import Worker
from tests.web.clients import OTHER, PATIENCE_SECONDS, ask, head


def test_the_image_has_it_in_its_label_and_the_changelog_a_section_of_it() -> None:
    label = re.findall(r'image\.version="(.+?)"', (PROJECT / "config/deploy/Containerfile").read_text())
    sections = re.findall(r"^## (\S+)", (PROJECT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert (label, sections[:2]) == ([VERSION], ["Unreleased", VERSION])


@pytest.mark.long
@pytest.mark.parametrize("asked", ["version", "--version"])
def test_a_command_says_it_whatever_the_settings_are(asked: str) -> None:
    command, wrong = [sys.executable, "manage.py", asked], os.environ | {"DATABASE_URL": "none"}
    assert subprocess.check_output(command, cwd=PROJECT, env=wrong, text=True) == f"{described()}\n"


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_the_first_line_of_a_log_has_it_and_ready_says_it_to_the_host_alone(tmp_path: Path) -> None:
    with managed_web(tmp_path) as (port, _):
        passed_on = [ask(port, head("GET /ready", b"X-Forwarded-For: 198.51.100.7\r\n"), "127.0.0.1")]
        shown = [ask(port, head(f"GET /{path}"), "127.0.0.1") for path in ("ready", "ping", "")]
        answers = [*shown, ask(port, head("GET /ready"), OTHER), *passed_on]
        assert [answer.headers["Kaha-Version"] for answer, _ in answers] == [VERSION, None, None, None, None]
        assert all(VERSION.encode() not in body for _, body in answers)
    worker = Worker(tmp_path)
    worker.start()
    assert wait_until(lambda: worker.log.exists() and "}\n" in worker.log.read_text(), PATIENCE_SECONDS)
    worker.kill()
    for program, log in {"web server": tmp_path / "web.log", "worker": worker.log}.items():
        # As root, Celery warns of it before there is a log.
        first = next(line for line in log.read_text().splitlines() if line.startswith("{"))
        assert json.loads(first)["message"] == f"{described()}: {program} starts"
