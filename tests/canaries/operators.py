"""An operator in the admin, over HTTP, who signs in, opens every page, and searches for card numbers."""

import re
from collections import Counter, deque
from collections.abc import Iterator
from html import unescape
from urllib.parse import parse_qsl, urljoin, urlsplit

import httpx2

TIMEOUT_SECONDS = 60
LINK = re.compile(r'href="([^"#]+)"')
LIST = re.compile(r"/admin/[a-z]+/[a-z]+/")
NAME = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9]+")
# Of pages that differ in the row that they show, or in a filter's value, so many are looked at.
PAGES_OF_A_KIND = 2
NEVER_LEFT = ("/admin/logout/", "/admin/password_change/")

Page = tuple[str, bytes]


class Operator:
    """Signed in for as long as the `with` block runs."""

    def __init__(self, url: str, user: str, password: str) -> None:
        self._client = httpx2.Client(base_url=url, timeout=TIMEOUT_SECONDS, follow_redirects=True)
        self._client.get("/admin/login/")
        assert self.sign_in(user, password), user

    def __enter__(self) -> "Operator":
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def sign_in(self, user: str, password: str) -> bool:
        """Return whether the admin accepts the sign-in."""
        form = {"login": user, "password": password, "csrfmiddlewaretoken": self._client.cookies["csrftoken"]}
        return "/admin/login" not in str(self._client.post("/admin/login/?next=/admin/", data=form).url)

    def pages(self) -> Iterator[Page]:
        """Yield every kind of page that links lead to from the first."""
        waiting, seen, looked = deque(["/admin/"]), {"/admin/"}, Counter[str]()
        while waiting:
            address = waiting.popleft()
            looked[_kind_of(address)] += 1
            if looked[_kind_of(address)] > PAGES_OF_A_KIND:
                continue
            response = self._client.get(address)
            assert response.status_code == 200, (address, response.status_code)
            yield address, response.content
            # Filters could be combined for ever.
            new = [] if "?" in address else [link for link in _links(address, response.text) if link not in seen]
            seen.update(new)
            waiting.extend(new)

    def search_everywhere(self, text: str) -> int:
        """Search every list for `text`; return how many there are."""
        lists = [link for link in _links("/admin/", self._client.get("/admin/").text) if LIST.fullmatch(link)]
        for address in lists:
            assert self._client.get(address, params={"q": text}).is_success, address
        return len(lists)

    def get_lost(self, text: str) -> None:
        """Use `text` as a user name, and as a page to which it posts without a form's token."""
        assert not self.sign_in(text, text)
        for method in ("GET", "POST"):
            assert self._client.request(method, f"/admin/{text}/", params={"card": text}).status_code in (403, 404)


def _links(address: str, text: str) -> list[str]:
    links = dict.fromkeys(urljoin(address, unescape(link)) for link in LINK.findall(text))
    return [link for link in links if link.startswith("/admin/") and not link.startswith(NEVER_LEFT)]


def _kind_of(address: str) -> str:
    parts = urlsplit(address)
    names = sorted(name for name, _ in parse_qsl(parts.query, keep_blank_values=True))
    return f"{NAME.sub('*', parts.path)}?{'&'.join(names)}"
