"""The inbox as an operator sees it: what is theirs first, then all that their role and merchants allow."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.db.models.functions import Now
from django.test import Client
from django.urls import reverse

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.merchants.terms import set_fee
from payments.domain.operators.cases import work_on
from payments.inbox.entries import Section, in_words
from payments.inbox.sections import assigned_to, limit_of, sections_of
from payments.ledger.fees import Rate
from payments.models import Charge, MerchantAccess, MoneyCheck, Sweep, WorkerProcess
from tests.admin.conftest import House, text_of, the_operator
from tests.admin.test_pages import newest  # noqa: F401
from tests.client import Api
from tests.operators.factories import ALONE, person, proposed
from tests.overview.past_charges import make_past_charge
from tests.sweeps.factories import MINUTE, a_worker, all_swept

pytestmark = pytest.mark.long

INBOX = reverse("admin:inbox")
FAILED = [{"name": "refunds_add_up", "sentence": "Refunds add up", "model": "payments.charge", "count": 1, "ids": []}]


@pytest.fixture(autouse=True)
def worker(db: None) -> None:
    """Have a worker at work, whose absence would need attention too."""
    a_worker()


def sections(user: User) -> dict[str, Section]:
    return {section.sort.name: section for section in sections_of(user, limit_of(user)) if section.count}


def mine(user: User) -> list[list[str]]:
    return [[entry.key.split(":")[0] for entry in entries] for _, entries in assigned_to(user, limit_of(user))[:3]]


@pytest.mark.parametrize(
    ("time", "words"),
    [
        (timedelta(hours=3, minutes=12, seconds=50), "3 h 12 min"),
        (timedelta(days=2, hours=4), "2 d 4 h"),
        (timedelta(days=2, minutes=4), "2 d"),
        (timedelta(hours=1), "1 h"),
        (timedelta(minutes=7), "7 min"),
        (timedelta(seconds=45), "45 s"),
        (timedelta(seconds=-1), "0 s"),
    ],
)
def test_a_duration_is_said_in_its_two_largest_units(time: timedelta, words: str) -> None:
    assert in_words(time) == words


def test_holds_come_by_the_time_that_is_left_across_currencies_and_modes(shop: NewMerchant) -> None:
    now = clock.now()
    make_past_charge(shop.merchant, now - timedelta(days=6), hold=True, currency="JPY")
    make_past_charge(shop.merchant, now - timedelta(days=6, hours=20, minutes=30), hold=True)
    [first, second] = sections(person("ben", "viewer"))["holds"].entries
    assert first.when == "expires in 3 h 29 min"
    assert (first.amount[:3], second.amount[:3], second.when) == ("PHP", "JPY", "expires in 23 h 59 min")


def test_a_request_is_mine_to_decide_and_its_own_requester_waits_for_others(api: Api) -> None:
    api.charge()
    request = proposed("refund", ALONE + 1)
    assert mine(person("ben", "finance")) == [["operatoraction"], [], []]
    assert mine(request.proposed_by) == [[], [], ["operatoraction"]]
    assert mine(person("vera", "viewer")) == [[], [], []]


def test_an_operator_sees_what_is_of_their_merchants_alone(shop: NewMerchant) -> None:
    make_past_charge(shop.merchant, clock.now() - timedelta(days=6), hold=True)
    MoneyCheck.objects.create(
        whole=True, finished_at=clock.now(), invariants=["a"], failures=[{"name": "a", "count": 1}]
    )
    user = User.objects.create(username="cora", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=["view_charge", "view_moneycheck"]))
    assert sections(user) == {}
    MerchantAccess.objects.create(operator=user, merchant=shop.merchant)
    assert list(sections(user)) == ["holds"]
    assert list(sections(person("ben", "viewer"))) == ["money_check", "holds"]


def test_a_sort_needs_the_permission_of_its_list(shop: NewMerchant) -> None:
    make_past_charge(shop.merchant, clock.now() - timedelta(days=6), hold=True)
    user = User.objects.create(username="cora", is_staff=True)
    assert sections_of(user, None) == []


def test_what_is_not_shown_is_counted_and_a_link_leads_to_all(shop: NewMerchant) -> None:
    for _ in range(3):
        make_past_charge(shop.merchant, clock.now() - timedelta(days=6), hold=True)
    [section] = [each for each in sections_of(person("ben", "viewer"), None, 2) if each.sort.name == "holds"]
    assert (len(section.entries), section.count, section.has_more) == (2, 3, True)


def test_every_list_that_the_page_leads_to_knows_its_filter(operator: Client, shop: NewMerchant) -> None:
    for section in sections_of(the_operator(), None):
        # A filter that a list does not know leads back to its beginning.
        assert operator.get(section.sort.address).status_code == 200, section.sort.address


def test_the_page_shows_each_sort_with_its_countdown(operator: Client, shop: NewMerchant) -> None:
    make_past_charge(shop.merchant, clock.now() - timedelta(days=6, minutes=30), hold=True)
    text = text_of(operator.get(INBOX))
    assert "Holds that expire" in text
    assert "expires in 23 h 29 min" in text
    assert "Nothing waits for you." in text


@pytest.mark.usefixtures("newest")
def test_every_entry_leads_to_a_page_that_is_there(operator: Client, house: House) -> None:
    MoneyCheck.objects.create(whole=True, finished_at=clock.now(), failures=FAILED, invariants=["refunds_add_up"])
    make_past_charge(house.shop.merchant, clock.now() - timedelta(days=6), hold=True)
    shown = [entry for section in sections_of(the_operator(), None) for entry in section.entries]
    assert {entry.key.split(":")[0] for entry in shown} >= {"holds", "money_check", "declines"}
    for entry in shown:
        assert operator.get(entry.address).status_code == 200, entry.address


def test_what_is_assigned_to_me_is_in_my_inbox_and_in_no_other(api: Api) -> None:
    api.charge()
    charge, ana, ben = Charge.objects.get(), person("ana", "finance"), person("ben", "finance")
    work_on(charge, ben, "", ana, ["fraud-check"])
    heading, [entry] = assigned_to(ana, limit_of(ana))[3]
    assert (heading, entry.what) == ("Assigned to you", f"charge {charge} (fraud-check)")
    assert assigned_to(ben, limit_of(ben))[3][1] == []


def test_that_no_worker_works_is_the_first_thing_on_the_first_page_and_for_operators_of_all_merchants(
    client: Client, shop: NewMerchant
) -> None:
    ben = person("ben", "viewer")
    client.force_login(ben)
    assert "No worker works" not in text_of(client.get(reverse("admin:index")))
    WorkerProcess.objects.update(seen_at=Now() - 2 * MINUTE)
    assert list(sections(ben)) == ["workers"]
    assert "No worker works" in text_of(client.get(reverse("admin:index")))
    cora = User.objects.create(username="cora", is_staff=True)
    cora.user_permissions.set(Permission.objects.filter(codename="view_sweep"))
    MerchantAccess.objects.create(operator=cora, merchant=shop.merchant)
    assert sections(cora) == {}


def test_a_silent_worker_and_a_sweep_that_is_behind_are_in_the_inbox() -> None:
    a_worker("pay-2", seen=2 * MINUTE)
    all_swept(a_worker())
    Sweep.objects.filter(name="send_mails").update(error="OSError", worked_at=Now() - 2 * MINUTE)
    whats = [entry.what for entry in sections(person("ben", "viewer"))["workers"].entries]
    assert whats == ["Worker on pay-2 is silent", "Sweep send_mails is behind: it fails with OSError"]


def test_equal_changes_are_one_row_with_their_number(operator: Client, shop: NewMerchant) -> None:
    for fixed in (1, 2, 3):
        set_fee(shop.merchant, "card", "PHP", Rate(fixed=fixed))
    times = [entry.times for entry in sections(the_operator())["notices"].entries if entry.what.startswith("rates ")]
    assert times == [3]
    assert "3 times" in text_of(operator.get(INBOX))
