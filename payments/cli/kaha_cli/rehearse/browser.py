"""A buyer's browser without scripts: it keeps cookies, reads forms, and follows a redirect when it is asked to."""

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http import HTTPStatus
from typing import TypeVar
from urllib.parse import urljoin

import httpx2

# A crowd behind one address is asked to wait for a second or two.
WAITS, LONGEST_WAIT_SECONDS = 30, 5.0
# What is written into the fields that a shop has its payers asked for, by the last part of a field's name.
ANSWERS = {
    **{"holder": "Juan dela Cruz", "name": "Juan dela Cruz", "email": "juan@shop.example", "phone": "0917 555 0142"},
    **{"line1": "1 Rizal Avenue", "city": "Manila", "state": "Metro Manila", "postal_code": "1000"},
    **{"expiry": "12/39", "cvc": "123"},
}
Answer = TypeVar("Answer")


@dataclass
class Form:
    """A form of a page: its fields and buttons as they are shown, and the choices of each."""

    fields: dict[str, str] = field(default_factory=dict)
    choices: dict[str, list[str]] = field(default_factory=dict)

    def filled(self) -> dict[str, str]:
        """Return the fields with what a buyer writes into those that are empty."""
        return {name: value or ANSWERS.get(name.rpartition("-")[2], "") for name, value in self.fields.items()}


@dataclass
class Page:
    """What was answered: status 0 where nothing was, and where the browser is sent next, if it is."""

    url: str = ""
    status: int = 0
    text: str = ""
    location: str = ""

    @property
    def is_success(self) -> bool:
        return is_success(self.status)

    def form(self, name: str) -> Form | None:
        """Return the form that has a field or button of this name."""
        reader = _Forms()
        reader.feed(self.text)
        return next((form for form in reader.forms if name in form.fields), None)

    def member(self, name: str) -> str:
        """Return a member of an answer in JSON, "" where it is none."""
        try:
            return str(dict(json.loads(self.text)).get(name) or "")
        except (ValueError, TypeError, RecursionError):
            return ""


class Browser(httpx2.Client):
    """Asks for pages, also from several tabs at once."""

    def open(self, url: str, fields: dict[str, str] | None = None) -> Page:
        """Return the page at `url`, or the answer to a form with these fields."""
        for _ in range(WAITS):
            try:
                answer = self.request("GET" if fields is None else "POST", url, data=fields)
                location = urljoin(url, answer.headers["Location"]) if answer.has_redirect_location else ""
            # Where it leads may be no address.
            except (httpx2.HTTPError, httpx2.InvalidURL, ValueError):
                return Page(url)
            if answer.status_code != HTTPStatus.TOO_MANY_REQUESTS:
                break
            asked = answer.headers.get("Retry-After", "")
            time.sleep(min(float(asked) if asked.isdecimal() else 1.0, LONGEST_WAIT_SECONDS))
        return Page(url, answer.status_code, answer.text, location)


def at_once(*acts: Callable[[], Answer]) -> list[Answer]:
    """Return what each of `acts` returns, all done at once."""
    with ThreadPoolExecutor(len(acts)) as threads:
        return [future.result() for future in [threads.submit(act) for act in acts]]


def is_success(status: int) -> bool:
    """Return whether an answer says that what was asked is done."""
    return 200 <= status < 300


class _Forms(HTMLParser):
    """Reads the forms of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.forms = [Form()]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take a form, or a field or button that is in one."""
        given = {name: value or "" for name, value in attrs}
        name, value = given.get("name", ""), given.get("value", "")
        if tag == "form":
            self.forms.append(Form())
        elif tag == "input" and given.get("type") in ("radio", "checkbox"):
            self.forms[-1].choices.setdefault(name, []).append(value)
        elif tag in ("input", "button") and name:
            self.forms[-1].fields[name] = value if tag == "input" else ""
