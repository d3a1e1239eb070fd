"""Browser tabs of operators who are signed in."""

from typing import Any

from django.conf import settings
from django.contrib.auth.models import Group, User
from playwright.sync_api import Browser, ConsoleMessage, Page

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
