"""An exit status of `manage.py` is that of the act, whether its output can be written or not."""

import os
import subprocess
import sys

import pytest

from payments.embedded.folders import PROJECT
from payments.models import ApiKey, Merchant
from tests.factories import MerchantFactory
from tests.support.worker import database_url

# A process of its own sees only what is committed.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

TITLE = "₱ Store 🎉"
CREATE = f"merchant create '{TITLE}'"
CREATE_KEY = f"merchant create-key '{TITLE}' --mode live --kind secret"
LOST = "merchant roll-key"


def shell(command: str, pass_fds: tuple[int, ...] = (), **more: str) -> "subprocess.CompletedProcess[str]":
    """Run `manage.py` with these words, as a shell does."""
    environment = {**os.environ, "DATABASE_URL": database_url(), **more}
    line = ["bash", "-c", f'"$0" manage.py {command}', sys.executable]
    return subprocess.run(
        line, cwd=PROJECT, env=environment, pass_fds=pass_fds, capture_output=True, encoding="cp1252", timeout=120
    )


def shell_to(output: str, command: str) -> "subprocess.CompletedProcess[str]":
    """Run it where nothing can be written to `output`."""
    if output != "a closed pipe":
        return shell(f"{command} {'> /dev/full' if output == 'a full disk' else '>&-'}")
    reader, writer = os.pipe()
    os.close(reader)
    done = shell(f"{command} >&{writer}", pass_fds=(writer,))
    os.close(writer)
    return done


@pytest.mark.parametrize(
    ("command", "is_secret", "output"),
    [
        (CREATE, True, "a full disk"),
        (CREATE, True, "closed output"),
        (CREATE_KEY, True, "a closed pipe"),
        ("run_sweep settle_due", False, "a full disk"),
        (f"merchant set-fee '{TITLE}' card PHP --fixed 5", False, "a closed pipe"),
    ],
)
def test_what_is_done_ends_with_0_and_a_lost_key_is_to_be_rolled(command: str, is_secret: bool, output: str) -> None:
    if command != CREATE:
        MerchantFactory(title=TITLE)
    done = shell_to(output, command)
    assert (done.returncode, LOST in done.stderr) == (0, is_secret), done.stderr
    assert "could not be written" in done.stderr
    assert Merchant.objects.get().title == TITLE
    assert ApiKey.objects.count() == {CREATE: 4, CREATE_KEY: 1}.get(command, 0)


@pytest.mark.parametrize(("output", "status"), [("a full disk", 4), ("a closed pipe", 0)])
def test_a_command_that_only_reads_ends_with_4_on_a_full_disk(output: str, status: int) -> None:
    done = shell_to(output, "merchant list-keys")
    assert (done.returncode, LOST in done.stderr) == (status, False), done.stderr


def test_a_refusal_keeps_its_status_and_names_no_key() -> None:
    done = shell_to("a full disk", "merchant create-key nobody --mode live --kind secret")
    assert (done.returncode, LOST in done.stderr) == (1, False)


def test_letters_that_the_output_cannot_show_are_escaped() -> None:
    MerchantFactory(title=TITLE)
    done = shell(CREATE_KEY + ' && "$0" manage.py merchant list-keys', PYTHONIOENCODING="cp1252")
    assert (done.returncode, done.stderr) == (0, "")
    assert r"\u20b1 Store \U0001f389" in done.stdout
