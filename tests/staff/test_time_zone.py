"""The time zone in which the admin shows moments."""

from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone as current_zone
from hypothesis import given
from hypothesis import strategies as st
from pytest_django.fixtures import Settings

from payments import clock, ids
from payments.admin.shown_times import moment_cell, moment_text, offset_text
from payments.models import Charge
from payments.staff.preferences import TIME_ZONE
from tests.admin.conftest import text_of
from tests.admin.test_pages import list_of, page_of
from tests.client import signed_in
from tests.factories import ChargeFactory

PREFERENCES = reverse("admin:preferences")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
MANILA = "Asia/Manila"


def words(moment: datetime, zone: str) -> str:
    with current_zone.override(zone), clock.at(NOON):
        return moment_text(moment).replace("\N{NO-BREAK SPACE}", " ")


@pytest.fixture(autouse=True)
def _without_second_factor(settings: Settings) -> None:
    settings.ADMIN_MFA = False


def test_a_day_near_today_is_named_in_the_display_time_zone() -> None:
    late = datetime(2026, 3, 2, 17, 30, tzinfo=UTC)
    assert words(late, "UTC") == "today 17:30:00 UTC"
    assert words(late, MANILA) == "tomorrow 01:30:00 UTC+8"
    assert words(late - timedelta(days=1), "UTC") == "yesterday 17:30:00 UTC"
    assert words(late - timedelta(days=2), "UTC") == "28 Feb 2026 17:30:00 UTC"


def test_an_offset_is_that_of_the_moment_and_not_of_now() -> None:
    assert words(datetime(2026, 7, 1, 12, tzinfo=UTC), "America/St_Johns") == "01 Jul 2026 09:30:00 UTC−2:30"
    assert words(datetime(2026, 1, 1, 12, tzinfo=UTC), "America/St_Johns") == "01 Jan 2026 08:30:00 UTC−3:30"


@given(st.integers(-14 * 60, 14 * 60))
def test_an_offset_reads_back_as_the_same_offset(minutes: int) -> None:
    text = offset_text(NOON.astimezone(timezone(timedelta(minutes=minutes)))).removeprefix("UTC") or "+0"
    hours, _, rest = text[1:].partition(":")
    assert (-1 if text[0] == "\N{MINUS SIGN}" else 1) * (int(hours) * 60 + int(rest or 0)) == minutes


def test_a_cell_has_the_moment_in_utc_as_its_title() -> None:
    with current_zone.override(MANILA):
        cell = moment_cell(NOON)
    assert 'title="02 Mar 2026 12:00:00 UTC"' in cell
    assert "20:00:00" in cell


def test_the_admin_is_in_the_time_zone_of_the_installation(ana: User, settings: Settings) -> None:
    settings.DISPLAY_TIME_ZONE = MANILA
    charge = ChargeFactory(is_captured=True)
    local = charge.created_at.astimezone(ZoneInfo(MANILA))
    assert f"{local:%H:%M:%S}\N{NO-BREAK SPACE}UTC+8" in text_of(signed_in(ana).get(page_of(charge)))


def test_an_operator_s_own_time_zone_comes_first_and_is_kept(ana: User) -> None:
    visitor = signed_in(ana)
    assert visitor.post(PREFERENCES, {"time_zone": "Asia/Tokyo"}).status_code == 302
    for client in (visitor, signed_in(ana)):
        assert "UTC+9" in text_of(client.get(list_of(Charge)))


def test_an_operator_returns_to_the_installation_s_time_zone(ana: User) -> None:
    visitor = signed_in(ana)
    for zone, shown in (("Asia/Tokyo", True), ("", False)):
        visitor.post(PREFERENCES, {"time_zone": zone})
        assert ("UTC+9" in text_of(visitor.get(list_of(Charge)))) == shown


@pytest.mark.long
@pytest.mark.parametrize("zone", ["Manila", "../../etc/passwd", "x" * 10_000])
def test_an_unknown_time_zone_is_refused(zone: str, ana: User) -> None:
    visitor = signed_in(ana)
    assert "Select a valid choice" in text_of(visitor.post(PREFERENCES, {"time_zone": zone}))
    assert visitor.session[TIME_ZONE] == ""


def test_the_preferences_are_for_the_signed_in_only(client: Client, db: None) -> None:
    assert client.get(PREFERENCES)["Location"].startswith(reverse("admin:login"))


def test_the_days_of_a_list_begin_at_midnight_of_the_display_time_zone(ana: User, settings: Settings) -> None:
    settings.DISPLAY_TIME_ZONE = MANILA
    midnight = datetime.combine(date(2026, 3, 2), datetime.min.time(), ZoneInfo(MANILA))
    before, first = (
        ChargeFactory(id=ids.first_id(at), is_captured=True) for at in (midnight - timedelta(minutes=1), midnight)
    )
    text = text_of(signed_in(ana).get(list_of(Charge), {"since": "2026-03-02", "until": "2026-03-02"}))
    assert page_of(first) in text
    assert page_of(before) not in text


def test_the_api_answers_in_utc_whatever_the_display_time_zone(settings: Settings, client: Client, db: None) -> None:
    settings.DISPLAY_TIME_ZONE = MANILA
    client.get("/v2/ping")
    assert current_zone.get_current_timezone_name() == "UTC"
