"""The guide "Deployment", from two empty hosts to a live payment: its own commands, on two hosts of Debian."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from payments.embedded.processes import wait_until
from tests.deploy.roots import debian_tar as debian_tar  # a fixture
from tests.deploy.two_hosts.hosts import missing
from tests.deploy.two_hosts.walk import SUBSTITUTES, Walk, walked

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def walk(debian_tar: Callable[[], Path]) -> Iterator[Walk]:
    if lacking := missing():
        pytest.skip(f"no host can be made without {', '.join(lacking)}")
    with TemporaryDirectory(prefix="kaha-hosts-") as name:
        folder = Path(name)
        # PostgreSQL and Redis run as users of their own.
        folder.chmod(0o755)
        with walked(folder, debian_tar()) as taken:
            yield taken


def test_a_test_payment_is_taken(walk: Walk) -> None:
    charges = [json.loads(output) for step, output in walk.outputs if '"Order 1001"' in step.code]
    assert [(charge["status"], charge["livemode"]) for charge in charges] == [("succeeded", False)]


def test_a_live_payment_is_taken_and_the_provider_has_it(walk: Walk) -> None:
    asked = next(step for step, _ in walk.outputs if step.code.startswith("CHARGE="))

    def charge() -> dict[str, object]:
        walk.take(asked)
        shown: dict[str, object] = json.loads(walk.outputs[-1][1])
        return shown

    assert wait_until(lambda: charge()["status"] == "succeeded", 30), charge()
    assert (charge()["livemode"], charge()["amount_captured"]) == (True, 10_000)
    assert [each.captured for each in walk.provider.books.requests.values() if each.captured] == [10_000]


def test_nothing_is_wrong_in_the_end(walk: Walk) -> None:
    step, output = next((step, output) for step, output in walk.outputs if "doctor" in step.code)
    assert re.search(r"(\d+) of \1 hold", output), step


def test_no_secret_is_left_on_the_database_host_and_on_the_other_root_alone_reads_them(walk: Walk) -> None:
    assert walk.places["database"].run("find /usr/src -name secrets") == ""
    as_kaha = "setpriv --reuid=kaha --regid=kaha --clear-groups"
    shown = walk.places["service"].run(f"! {as_kaha} ls /etc/kaha/secrets")
    assert "Permission denied" in shown


def test_between_the_hosts_everything_is_encrypted(walk: Walk) -> None:
    query = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'kaha'"
    found = walk.places["database"].run(f'cd /; runuser -u postgres -- psql -Atc "{query}"')
    assert found.strip() == "t"


def test_every_substitute_stands_in_for_a_line_of_the_guide(walk: Walk) -> None:
    assert walk.substituted == SUBSTITUTES.keys()
