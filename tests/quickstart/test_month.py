"""The month of demo life, as `quickstart --demo` makes it."""

import signal
from datetime import timedelta
from pathlib import Path

import pytest
from django.db.models import Min

from payments import clock
from payments.models import Charge, Merchant
from payments.quickstart import month
from tests.demo.test_year import broken_invariants
from tests.quickstart.quickstart_process import Quickstart, manage
from tests.support.processes import PATIENCE_SECONDS

pytestmark = pytest.mark.long


@pytest.mark.django_db
def test_it_is_made_once_and_its_books_are_right() -> None:
    month.make_once()
    month.make_once()
    assert Merchant.objects.count() == month.MERCHANTS
    first = Charge.objects.aggregate(first=Min("created_at"))["first"]
    assert timedelta(days=27) < clock.now() - first < timedelta(days=31)
    assert broken_invariants() == {}


def test_one_that_is_cut_off_leaves_nothing_and_the_next_start_makes_it(data: Path) -> None:
    cut = Quickstart(data, "--demo")
    log = data / "logs" / "month.log"
    cut.program.wait_until(lambda: log.exists() and "charges" in log.read_text())
    cut.program.send(signal.SIGINT)
    assert cut.ended()[0] == 0
    assert "Sari Mart" not in manage(data, "merchant", "list-keys")
    whole = Quickstart(data, "--demo")
    whole.program.wait_until("is there after", 2 * PATIENCE_SECONDS)
    whole.program.send(signal.SIGINT)
    assert whole.ended()[0] == 0
    assert manage(data, "merchant", "list-keys").count("Sari Mart") > 0
