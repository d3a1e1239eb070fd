"""Browser tabs of operators who are signed in, their main pages, and the ways to work in them."""

from collections.abc import Mapping
from typing import Any, Protocol

from django.conf import settings
from django.contrib.auth.models import Group, User
from django.urls import reverse
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, expect

from payments.models import ApprovalRequest, Charge, UnknownOutcome, Webhook
from payments.staff.roles import ALL_MERCHANTS
from tests.client import signed_in

SCREEN, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
# How a page may be looked at.
WAYS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": PHONE},
}
# As a browser in that language asks.
FILIPINO = {"locale": "fil-PH"}
# More than any page has things to stop at.
MOST_STOPS = 200
# On a page that was just opened the first stop leads past header and navigation.
IS_PAST_THE_SKIP_LINK = "element => document.activeElement === document.body && element.closest('main') !== null"


class Office:
    """Opens tabs for operators who are signed in; whatever the browser complains of is kept."""

    def __init__(self, browser: Browser, url: str) -> None:
        self.browser, self.url = browser, url
        self.complaints: list[str] = []

    def tab_of(self, role: str, name: str, **context: Any) -> Page:
        return self.tab_of_user(_operator(name, role), **context)

    def tab_of_user(self, user: User, **context: Any) -> Page:
        options = {"viewport": SCREEN} | context
        opened = self.browser.new_context(base_url=self.url, **options)
        session = signed_in(user).cookies[settings.SESSION_COOKIE_NAME].value
        opened.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": self.url}])
        opened.set_default_timeout(30_000)
        opened.on("console", self._note)
        opened.on("weberror", lambda error: self.complaints.append(str(error.error)))
        return opened.new_page()

    def _note(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.complaints.append(message.text)


def _operator(name: str, role: str) -> User:
    rights = {"is_staff": True, "is_superuser": role == "superuser"}
    user, _ = User.objects.get_or_create(username=name, defaults=rights)
    user.groups.set(Group.objects.filter(name__in=[role, ALL_MERCHANTS]))
    return user


def main_pages() -> Mapping[str, str]:
    """Their addresses by name; there must be something on each."""
    charge = Charge.objects.filter(captured=True, status=Charge.Status.SUCCEEDED).latest("pk")
    held = Charge.objects.filter(authorized=True).latest("pk")
    return {
        "first-page": f"{reverse('admin:index')}?days=30",
        "charges": reverse("admin:payments_charge_changelist"),
        "charge": reverse("admin:payments_charge_change", args=[charge.pk]),
        "capture": reverse("admin:payments_charge_capture", args=[held.pk]),
        "refund": reverse("admin:payments_charge_refund", args=[charge.pk]),
        "requests": reverse("admin:payments_operatoraction_changelist"),
        "waiting-for-approval": reverse("admin:payments_approvalrequest_waiting"),
        "approval": reverse("admin:payments_approvalrequest_decide", args=[ApprovalRequest.objects.latest("pk").pk]),
        "issue-key": reverse("admin:payments_merchant_issue_key", args=[charge.merchant_id]),
        "desk": reverse("admin:payments_unknownoutcome_changelist"),
        "unknown-outcome": reverse(
            "admin:payments_unknownoutcome_change", args=[UnknownOutcome.objects.earliest("pk").pk]
        ),
        "webhooks": reverse("admin:payments_webhook_changelist"),
        "webhook": reverse("admin:payments_webhook_change", args=[Webhook.objects.latest("pk").pk]),
        "merchants": reverse("admin:payments_merchant_changelist"),
        "audit-log": reverse("admin:payments_auditentry_changelist"),
        "block": reverse("admin:payments_block_add"),
        "reconciliation": reverse("admin:payments_reconciliationitem_changelist"),
        "on-call": reverse("admin:on_call"),
        "accounts": reverse("admin:payments_account_change", args=[charge.merchant_id]),
        "trial-balance": reverse("admin:payments_ledgerday_at"),
    }


class Hand(Protocol):
    def press(self, thing: Locator) -> None:
        """Follows a link, presses a button, ticks a box."""

    def write(self, field: Locator, text: str) -> None:
        """Has nothing but `text` in the field."""


class Mouse:
    def press(self, thing: Locator) -> None:
        thing.click()

    def write(self, field: Locator, text: str) -> None:
        field.fill(text)


class Counted(Mouse):
    """Counts what a task costs: what is pressed, and the fields that are written into."""

    def __init__(self) -> None:
        self.clicks = self.fields = 0

    def press(self, thing: Locator) -> None:
        self.clicks += 1
        super().press(thing)

    def write(self, field: Locator, text: str) -> None:
        self.fields += 1
        super().write(field, text)


class Keyboard:
    """Nothing is pointed at: what is wanted is reached by Tab, and it shows that it has the focus."""

    def press(self, thing: Locator) -> None:
        self._go_to(thing)
        thing.page.keyboard.press("Enter")

    def write(self, field: Locator, text: str) -> None:
        self._go_to(field)
        field.page.keyboard.press("ControlOrMeta+A")
        field.page.keyboard.insert_text(text)

    def _go_to(self, thing: Locator) -> None:
        expect(thing).to_be_visible()
        keys = thing.page.keyboard
        if thing.evaluate(IS_PAST_THE_SKIP_LINK):
            keys.press("Tab")
            keys.press("Enter")
        for _ in range(MOST_STOPS):
            if thing.evaluate("element => element.matches(':focus-visible')"):
                return
            keys.press("Tab")
        raise AssertionError(f"Tab does not come to {thing}")


HANDS: dict[str, type[Mouse] | type[Keyboard]] = {"mouse": Mouse, "keyboard": Keyboard}


def announced(tab: Page) -> Locator:
    """Return the message about the last action."""
    return tab.locator("ul.messagelist")
