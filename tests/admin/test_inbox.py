"""The inbox as an operator sees it: what is theirs first, then all that their role and merchants allow."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.db.models.functions import Now
from django.test import Client
from django.urls import resolve, reverse

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.merchants.terms import set_fee
from payments.domain.operators.cases import work_on
from payments.ids import new_id
from payments.inbox.entries import Section, in_words, page_of
from payments.inbox.sections import assigned_to, limit_of, sections_of
from payments.inbox.sorts import SORTS
from payments.inbox.summary import SHOWN_MAX, keep_count, summary_of
from payments.ledger.fees import Rate
from payments.models import Charge, MerchantAccess, MoneyCheck, Sweep, WorkerProcess
from payments.staff.roles import ALL_MERCHANTS
from tests.admin.conftest import House, text_of, the_operator
from tests.admin.test_pages import newest  # noqa: F401
from tests.client import ANSWER_LOST, Api, signed_in
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
    urgent = make_past_charge(shop.merchant, now - timedelta(days=6, hours=20, minutes=30), hold=True)
    first_payer = urgent.charge.source.payer_name
    [first, second] = sections(person("ben", "viewer"))["holds"].entries
    assert (first.when, first.about) == ("3 h 29 min left", f"{first_payer}, Halo-halo")
    assert (first.amount[:1], second.amount[:3], second.when) == ("₱", "JPY", "23 h 59 min left")


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
    MerchantAccess.objects.create(user=user, merchant=shop.merchant)
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
    assert (len(section.entries), section.count) == (2, 3)


def test_every_list_that_the_page_leads_to_knows_its_filter(operator: Client, shop: NewMerchant) -> None:
    for section in sections_of(the_operator(), None):
        # A filter that a list does not know leads back to its beginning.
        assert operator.get(section.sort.address).status_code == 200, section.sort.address


def test_the_page_shows_each_sort_with_its_countdown(operator: Client, shop: NewMerchant) -> None:
    make_past_charge(shop.merchant, clock.now() - timedelta(days=6, minutes=30), hold=True)
    text = text_of(operator.get(INBOX))
    assert "Holds that expire" in text
    assert "23 h 29 min left" in text
    assert "All else is well: workers, payout accounts, disputes, and " in text


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
    assert (heading, entry.what) == ("Assigned to you", "charge (fraud-check)")
    assert charge.description in entry.about
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
    MerchantAccess.objects.create(user=cora, merchant=shop.merchant)
    assert sections(cora) == {}


def test_a_silent_worker_and_a_sweep_that_is_behind_are_in_the_inbox() -> None:
    a_worker("pay-2", seen=2 * MINUTE)
    all_swept(a_worker())
    Sweep.objects.filter(name="send_messages").update(error="OSError", worked_at=Now() - 2 * MINUTE)
    whats = [entry.what for entry in sections(person("ben", "viewer"))["workers"].entries]
    assert whats == ["Worker on pay-2 is silent", "“Send messages” is behind: it fails with OSError"]


def test_equal_changes_are_one_row_with_their_number(operator: Client, shop: NewMerchant) -> None:
    for fixed in (1, 2, 3):
        set_fee(shop.merchant, "card", "PHP", Rate(fixed=fixed))
    times = [entry.times for entry in sections(the_operator())["notices"].entries if entry.what.startswith("fees ")]
    assert times == [3]
    assert "3 times" in text_of(operator.get(INBOX))


def test_the_first_page_has_the_most_urgent_of_all_sorts_first_and_many_of_one_as_one_row(shop: NewMerchant) -> None:
    now = clock.now()
    make_past_charge(shop.merchant, now - timedelta(minutes=9), number=ANSWER_LOST)
    make_past_charge(shop.merchant, now - timedelta(days=6, hours=20, minutes=30), hold=True)
    for fixed in range(3):
        set_fee(shop.merchant, "card", "PHP", Rate(fixed=fixed))
    summary = summary_of(person("ben", "support"), None, livemode=False)
    assert [(entry.what, entry.act) for entry in summary.entries] == [
        ("Card hold ends", "Open"),
        ("Outcome of a payment unknown", "Look up"),
        ("3 changes of keys, addresses and terms", "Check"),
    ]
    assert (summary.headline, summary.entries[0].urgency) == ("Three things need you, the first within 4 hours", "soon")
    in_live = summary_of(person("cora", "support"), None, livemode=True)
    assert (in_live.entries[0].what, in_live.headline) == ("3 changes of keys, addresses and terms", summary.headline)


def test_live_holds_come_before_the_more_urgent_ones_of_test_mode(shop: NewMerchant) -> None:
    start = clock.now() - timedelta(days=5, hours=20)
    for minute in range(SHOWN_MAX):
        make_past_charge(shop.merchant, start + timedelta(minutes=minute), hold=True)
    live = make_past_charge(shop.merchant, start + timedelta(hours=1), hold=True).charge
    Charge.objects.filter(pk=live.pk).update(livemode=True)
    ben = person("ben", "support")
    first = {mode: summary_of(ben, None, livemode=mode).entries[0] for mode in (True, False)}
    assert (first[True].address.split("/")[-3], first[True].mode, first[False].mode) == (str(live.pk), "live", "test")


def test_the_act_of_each_entry_has_a_page() -> None:
    for sort in (sort for sort in SORTS if not sort.all_at):
        assert resolve(page_of(sort.model, new_id(), sort.step))


def test_the_navigation_says_how_much_waits_at_the_operators_merchants(
    shop: NewMerchant, other_shop: NewMerchant
) -> None:
    make_past_charge(shop.merchant, clock.now() - timedelta(minutes=9), number=ANSWER_LOST)
    ben, cora = person("ben", "support"), person("cora", "support")
    cora.groups.remove(Group.objects.get(name=ALL_MERCHANTS))
    MerchantAccess.objects.create(user=cora, merchant=other_shop.merchant)
    for user, shown in ((ben, True), (cora, False)):
        for page in (INBOX, reverse("admin:index")):
            assert ('class="nav-count">1<' in text_of(signed_in(user).get(page))) is shown
    keep_count(ben, None, 100)
    assert 'class="nav-count">99+<' in text_of(signed_in(ben).get(reverse("admin:payments_dispute_changelist")))


def test_an_operator_who_may_act_is_led_to_the_form(shop: NewMerchant) -> None:
    make_past_charge(shop.merchant, clock.now() - timedelta(days=6), hold=True)
    entries = {entry.act: entry for entry in summary_of(person("fely", "finance"), None, livemode=False).entries}
    assert entries["Capture"].act_at.endswith("/capture/")


def test_what_an_operator_may_decide_is_on_their_first_page_and_not_on_the_requesters(api: Api) -> None:
    api.charge()
    request = proposed("refund", ALONE + 1)
    acts = {entry.what: entry.act for entry in summary_of(person("ben", "finance"), None, livemode=False).entries}
    assert acts["Request to refund a charge"] == "Review"
    assert "Request to refund a charge" not in {
        each.what for each in summary_of(request.proposed_by, None, livemode=False).entries
    }
