"""A walk through a site by its links alone, as somebody does who knows no address."""

from collections import Counter
from collections.abc import Iterable
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin

from django.test import Client
from django.urls import Resolver404, resolve

# Opened by a link in a mail, after a form, before anybody is signed in, or with a second factor that tests go without.
ELSEWHERE = {"invitation", "login", "account_confirm_email", "password_change_done", "account_reauthenticate"}
ELSEWHERE |= {"mfa_index", "mfa_activate_totp", "mfa_add_webauthn", "mfa_generate_recovery_codes"}
# Of one kind of page, so many are opened: a list may be of rows that lead nowhere else.
MOST_OF_ONE = 2


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        has = dict(attrs)
        if tag in ("a", "iframe") and (address := has.get("href") or has.get("src")):
            self.found.append(address)


def name_of(address: str, urlconf: str) -> str:
    """Return the name of the view at an address; "" where there is none."""
    try:
        return resolve(address.partition("?")[0], urlconf).url_name or ""
    except Resolver404:
        return ""


def found_from(client: Client, home: str, urlconf: str) -> set[str]:
    """Return the names of the views that links lead to from `home`."""
    waiting, seen, opened = [home], {home}, Counter[str]()
    while waiting:
        address = waiting.pop(0)
        name = name_of(address, urlconf)
        if opened[name] >= MOST_OF_ONE:
            continue
        opened[name] += 1
        answer = client.get(address, follow=True)
        if not answer.get("Content-Type", "").startswith("text/html") or answer.streaming:
            continue
        here = str(answer.request["PATH_INFO"])
        opened[name_of(here, urlconf)] += here != address.partition("?")[0]
        reader = _Links()
        reader.feed(answer.content.decode())
        for link in reader.found:
            to = urljoin(here, link).partition("#")[0]
            if to.startswith(home) and to not in seen:
                seen.add(to)
                waiting.append(to)
    return set(opened)


def openable(client: Client, addresses: Iterable[str], urlconf: str) -> set[str]:
    """Return the names of the views that show a page at once at one of the addresses."""
    shown = set()
    for address in addresses:
        answer = client.get(address)
        if answer.status_code == 200 and answer.get("Content-Type", "").startswith("text/html"):
            shown.add(name_of(address, urlconf))
    return shown
