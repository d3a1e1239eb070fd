"""The month of demo life, as `quickstart --demo` makes it."""

import signal
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db.models import Min
from pytest_django.fixtures import Settings
from pytest_django.plugin import DjangoDbBlocker

from payments import clock
from payments.models import Charge, Checkout, Dispute, Merchant, PaymentLink, Payout
from payments.quickstart import demo_merchant, month
from tests.admin.conftest import words_of
from tests.client import signed_in
from tests.demo.test_year import broken_invariants
from tests.quickstart.quickstart_process import Quickstart
from tests.support.postgres import Postgres
from tests.support.processes import PATIENCE_SECONDS
from tests.undone import undone

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def shop(
    tmp_path_factory: pytest.TempPathFactory, django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[Merchant]:
    """Yield the demo shop once there is the month."""
    with django_db_blocker.unblock(), undone():
        demo_merchant.keep(tmp_path_factory.mktemp("demo") / "demo.json")
        month.make_once()
        yield Merchant.objects.get(title="Demo Shop")


@pytest.mark.django_db
def test_it_is_made_once_and_its_books_are_right(shop: Merchant) -> None:
    month.make_once()
    assert Merchant.objects.exclude(pk=shop.pk).count() == month.MERCHANTS
    first = Charge.objects.aggregate(first=Min("created_at"))["first"]
    assert timedelta(days=27) < clock.now() - first < timedelta(days=31)
    assert broken_invariants() == {}


@pytest.mark.django_db
def test_the_demo_shop_has_a_month_of_its_own_that_its_owner_sees(shop: Merchant, settings: Settings) -> None:
    settings.ADMIN_MFA = False
    own = {"merchant": shop, "livemode": False}
    # Which of the other states there are depends on the hour and the day of the week.
    assert {"succeeded", "failed"} <= set(Charge.objects.filter(**own).values_list("status", flat=True))
    assert Payout.objects.filter(**own, status="paid").exists()
    assert Dispute.objects.filter(**own, status="needs_response").exists()
    assert set(Checkout.objects.filter(**own, kind="request").values_list("state", flat=True)) == {"paid", "unpaid"}
    assert PaymentLink.objects.filter(**own, payments__gt=0).exists()
    page = words_of(signed_in(User.objects.get(username="owner")).get("/merchant/"))
    assert all(words in page for words in ("Disputed", "unpaid for a week", "Card hold ends", "Next payout", "Today"))


def test_one_that_is_cut_off_leaves_nothing_and_the_next_start_makes_it(data: Path) -> None:
    cut = Quickstart(data, "--demo")
    log = data / "logs" / "month.log"
    cut.program.wait_until(lambda: log.exists() and "charges" in log.read_text())
    cut.program.send(signal.SIGINT)
    assert cut.ended()[0] == 0
    database = Postgres(data)
    database.start()
    assert made_shops(database) == 0
    database.stop()
    whole = Quickstart(data, "--demo")
    whole.program.wait_until("is there after", 2 * PATIENCE_SECONDS)
    assert made_shops(database) == 1
    whole.program.send(signal.SIGINT)
    assert whole.ended()[0] == 0


def made_shops(database: Postgres) -> object:
    """Return how many shops there are that only the month has."""
    [[count]] = database.execute("SELECT count(*) FROM payments_merchant WHERE title = 'Sari Mart'")
    return count
