"""The way into the admin, walked in a real browser, and every page of the admin under its policy."""

import re
from collections.abc import Generator

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from django.db.models import Model
from django.urls import reverse
from playwright.sync_api import Browser, CDPSession, ConsoleMessage, Page, expect
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from payments.models import FileSchedule
from tests.admin.conftest import House, house  # noqa: F401  something to be looked at
from tests.admin.test_pages import list_of, newest, page_of  # noqa: F401
from tests.staff.sign_in import (
    ADD_PASSKEY,
    ENROL,
    FACTORS,
    INDEX,
    LOGIN,
    PASSWORD,
    RECOVERY_CODES,
    SECOND_FACTOR,
    app_of,
    code_at,
    code_of,
    renewed_codes_of,
    shown_key,
)

SESSIONS = reverse("usersessions_list")
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
}


@pytest.fixture
def tab(live_server: LiveServer, settings: Settings, browser: Browser) -> Generator[Page]:
    """Yield an operator's browser tab; an error in its console fails the test, except a passkey's refusal."""
    settings.ADMIN_PASSKEY_HOST = "localhost"
    context = browser.new_context(base_url=live_server.url, viewport={"width": 1280, "height": 900})
    complaints: list[str] = []
    context.on("console", lambda message: _is_complaint(message) and complaints.append(message.text))
    context.on("weberror", lambda error: complaints.append(str(error.error)))
    context.set_default_timeout(30_000)
    yield context.new_page()
    context.close()
    assert complaints == []


def _is_complaint(message: ConsoleMessage) -> bool:
    return message.type == "error" and "mfa/js" not in message.location["url"]


@pytest.fixture
def key(tab: Page) -> CDPSession:
    """Return a passkey's authenticator, built into the browser."""
    session = tab.context.new_cdp_session(tab)
    session.send("WebAuthn.enable")
    session.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
    return session


def at(path: str) -> re.Pattern[str]:
    """Return the address of a page, wherever it leads on to."""
    return re.compile(rf"{re.escape(path)}(\?|$)")


def give_password(tab: Page) -> None:
    tab.goto(LOGIN)
    tab.get_by_label("Username").fill("ana")
    tab.get_by_label("Password").fill(PASSWORD)
    tab.get_by_role("button", name="Sign in").click()


def give_code(tab: Page, code: str) -> None:
    tab.get_by_role("textbox").fill(code)
    tab.keyboard.press("Enter")


def sign_in(tab: Page, ana: User) -> None:
    app_of(ana)
    give_password(tab)
    give_code(tab, code_of(app_of(ana)))
    expect(tab).to_have_url(at(INDEX))


def make_passkey(tab: Page) -> None:
    if not tab.url.endswith(ADD_PASSKEY):
        tab.get_by_role("link", name="passkey").click()
    tab.wait_for_url(f"**{ADD_PASSKEY}")
    tab.get_by_role("button", name="Make a passkey").click()
    expect(tab).to_have_url(at(RECOVERY_CODES))


def open_account(tab: Page) -> None:
    tab.locator(".account summary").click()


def log_out(tab: Page) -> None:
    open_account(tab)
    tab.get_by_role("button", name="Sign out").click()
    expect(tab.get_by_text("You are signed out")).to_be_visible()


def test_an_app_is_enrolled_and_signs_in(tab: Page, ana: User) -> None:
    give_password(tab)
    expect(tab).to_have_url(at(ENROL))
    code = tab.get_by_alt_text("QR code")
    assert code.evaluate("image => image.complete && image.naturalWidth > 0")
    give_code(tab, code_at(shown_key(tab.content())))
    expect(tab.locator(".codes li")).to_have_count(10)
    tab.get_by_role("link", name="I have stored them").click()
    expect(tab).to_have_url(at(INDEX))
    log_out(tab)
    give_password(tab)
    give_code(tab, code_of(app_of(ana), steps_ahead=1))
    expect(tab).to_have_url(at(INDEX))


def test_a_passkey_is_enrolled_and_signs_in(tab: Page, ana: User, key: CDPSession) -> None:
    give_password(tab)
    make_passkey(tab)
    tab.get_by_role("link", name="I have stored them").click()
    expect(tab).to_have_url(at(INDEX))
    log_out(tab)
    give_password(tab)
    expect(tab).to_have_url(at(SECOND_FACTOR))
    tab.wait_for_url(f"**{SECOND_FACTOR}")
    tab.get_by_role("button", name="Use a passkey").click()
    expect(tab).to_have_url(at(INDEX))


def test_the_passkey_of_another_user_does_not_do(tab: Page, ana: User, key: CDPSession) -> None:
    give_password(tab)
    make_passkey(tab)
    ben = User.objects.create_superuser("ben")
    tab.context.clear_cookies()
    give_password(tab)
    # The browser is still asked for Ana's, which by now is Ben's.
    Authenticator.objects.filter(type="webauthn").update(user=ben)
    app_of(ana)
    tab.wait_for_url(f"**{SECOND_FACTOR}")
    tab.get_by_role("button", name="Use a passkey").click()
    expect(tab.get_by_text("That code is not right")).to_be_visible()
    expect(tab).to_have_url(at(SECOND_FACTOR))


def test_a_second_factor_is_added_and_the_first_removed(tab: Page, ana: User, key: CDPSession) -> None:
    sign_in(tab, ana)
    open_account(tab)
    tab.get_by_role("link", name="Second factors").click()
    tab.get_by_role("link", name="Add a passkey").click()
    make_passkey(tab)
    tab.goto(FACTORS)
    tab.get_by_role("row", name="Authenticator app").get_by_role("link", name="Remove").click()
    tab.get_by_role("button", name="Remove the app").click()
    expect(tab.get_by_role("row", name="Passkey")).to_be_visible()
    assert not Authenticator.objects.filter(type="totp").exists()


def test_a_recovery_code_signs_in(tab: Page, ana: User) -> None:
    code = renewed_codes_of(ana)[0]
    give_password(tab)
    give_code(tab, code)
    expect(tab).to_have_url(at(INDEX))


def test_every_page_of_the_admin_keeps_to_its_policy(
    tab: Page,
    ana: User,
    newest: dict[type[Model], Model],  # noqa: F811
) -> None:
    sign_in(tab, ana)
    addresses = [INDEX, FACTORS, SESSIONS, reverse("admin:password_change"), list_of(User), page_of(ana)]
    # A schedule of files has a page for its own person alone.
    rows = [row for row in newest.values() if not isinstance(row, FileSchedule)]
    addresses += [address for row in rows for address in (list_of(type(row)), page_of(row))]
    addresses += [reverse("admin:auth_user_add"), reverse("admin:payments_binrange_add")]
    for address in addresses:
        response = tab.goto(address)
        assert response is not None
        assert response.status == 200, address
        assert "unsafe" not in response.headers["content-security-policy"]


@pytest.mark.parametrize("keys", ["/", "Control+K"])
def test_a_key_leads_to_the_search_box(tab: Page, ana: User, keys: str) -> None:
    sign_in(tab, ana)
    tab.locator("h1").first.click()
    tab.keyboard.press(keys)
    box = tab.get_by_role("searchbox", name="Find")
    expect(box).to_be_focused()
    expect(box).to_have_value("")


def test_a_slash_that_is_typed_into_a_field_stays_there(tab: Page, ana: User) -> None:
    sign_in(tab, ana)
    tab.goto(reverse("admin:payments_charge_changelist"))
    field = tab.locator("#searchbar")
    field.focus()
    tab.keyboard.press("/")
    expect(field).to_be_focused()
    expect(field).to_have_value("/")


def test_the_search_results_fit_a_phone(tab: Page, ana: User) -> None:
    sign_in(tab, ana)
    tab.set_viewport_size({"width": 390, "height": 844})
    tab.goto(f"{reverse('admin:find')}?q=ch_{'0' * 31}")
    expect(tab.get_by_text("Nothing was found")).to_be_visible()
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_fields_of_the_sign_in_page_are_of_one_width(tab: Page) -> None:
    tab.goto(LOGIN)
    boxes = [field.bounding_box() for field in tab.locator(".form-row input").all()]
    assert len(boxes) > 1
    assert len({box["width"] for box in boxes if box}) == 1
