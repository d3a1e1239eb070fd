"""Operators at the back office, in browsers of a client whose scripts do not run."""

import re
import ssl
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
from django.urls import reverse

from tests.deploy.two_hosts.network import SERVICE_IN_PUBLIC
from tests.figures.failover.cluster.namespaces import call_in
from tests.staff.sign_in import code_at, shown_key

HOST = "pay.example.com"
PASSWORD = "kalesa-77-halo-halo"  # pragma: allowlist secret
REASON = {"reason": "Ticket 4711"}
HIDDEN = re.compile(r"<input[^>]*type=\"hidden\"[^>]*>")


class Browser:
    """A browser on a host, which keeps cookies and follows redirects."""

    def __init__(self, namespace: str, certificate: Path) -> None:
        self._namespace = namespace
        # HTTPX takes names from this machine, so the address is asked by the name.
        self._client = httpx2.Client(
            base_url=f"https://{SERVICE_IN_PUBLIC}",
            verify=ssl.create_default_context(cafile=str(certificate)),
            headers={"Host": HOST, "Referer": f"https://{HOST}/"},
            timeout=60,
        )
        self.address = self.page = ""

    def get(self, address: str) -> str:
        """Return the page at an address, or where it leads."""
        return self._shown("GET", address)

    def post(self, address: str, filled: dict[str, Any], to: str = "") -> str:
        """Return the page after a form at an address was sent (to another) with what is said."""
        self.get(address)
        return self.fill(filled, to)

    def fill(self, filled: dict[str, Any], to: str = "") -> str:
        """Return the page after the form on this one was sent (to another) with its hidden fields and what is said."""
        fields = {_attribute(field, "name"): _attribute(field, "value") for field in HIDDEN.findall(self.page)}
        return self._shown("POST", to or self.address, {**fields, **filled})

    def send(self, address: str, headers: dict[str, str], body: bytes) -> int:
        """Send a message, and return the status of the answer."""
        answer = self._ask("POST", address, content=body, headers=headers)
        return answer.status_code

    def _shown(self, method: str, address: str, fields: dict[str, Any] | None = None) -> str:
        answer = self._ask(method, address, data=fields)
        while answer.is_redirect:
            address = str(httpx2.URL(f"https://{HOST}{address}").join(answer.headers["Location"]).raw_path.decode())
            answer = self._ask("GET", address)
        assert answer.status_code == 200, f"{answer.status_code} {address} {answer.text[:1000]}"
        self.address, self.page = address, answer.text
        return self.page

    def _ask(self, method: str, address: str, **options: Any) -> httpx2.Response:
        asked = partial(self._client.request, method, address, extensions={"sni_hostname": HOST}, **options)
        return call_in(self._namespace, asked)


class Operator(Browser):
    """Somebody with a browser and an authenticator app."""

    def sign_in(self, name: str) -> None:
        """Sign in for the first time, and enrol the app."""
        self.post(reverse("account_login"), {"login": name, "password": PASSWORD})
        self.enrol()

    def accept(self, link: str) -> None:
        """Choose a password by an invitation, and enrol the app."""
        self.post(link, dict.fromkeys(("new_password1", "new_password2"), PASSWORD))
        self.enrol()

    def enrol(self) -> None:
        # The page offers another key each time that it is opened.
        self.fill({"code": code_at(shown_key(self.page))})
        assert "Recovery codes" in self.page

    def invite(self, name: str, roles: list[str]) -> str:
        """Add an operator with these roles; return the link for them."""
        page = self.get(reverse("admin:auth_user_add"))
        boxes = re.findall(r'name="groups" value="(\d+)"[^>]*>\s*<strong>([\w ]+)<', page)
        groups = [pk for pk, role in boxes if role.lower() in roles]
        assert len(groups) == len(roles), boxes
        form = {"username": name, "email": f"{name}@example.com", "groups": groups}
        self.post(reverse("admin:auth_user_add"), form)
        page = self.post(self.address, REASON)
        return re.findall(r"/admin/invitation/[\w-]+/", page)[0]

    def connect(self, provider: str, merchant: str, credentials: dict[str, str]) -> None:
        """Ask for a live account of a merchant's at a provider."""
        address = f"{reverse('admin:payments_provideraccount_add')}?provider={provider}"
        [pk] = re.findall(rf'<option value="([0-9a-f-]+)">{merchant}</option>', self.get(address))
        filled = {f"credential_{name}": value for name, value in credentials.items()}
        self.post(address, {"merchant": pk, "mode": "live", "title": "Ours", **filled, **REASON})

    def choose_live_mode(self) -> None:
        self.post(reverse("admin:index"), {"mode": "live"}, to=reverse("admin:mode"))

    def open_account(self) -> str:
        """Return the page of the only provider account."""
        listed = self.get(reverse("admin:payments_provideraccount_changelist"))
        return self.get(re.findall(r"/admin/payments/provideraccount/[0-9a-f-]{36}/change/", listed)[0])

    def add_route(self, source_type: str) -> None:
        """Ask for a route to the only account for every amount of a type."""
        self.open_account()
        ticked = dict.fromkeys(("hold", "refund", "partial_refund", "enabled"), "on")
        form = {"source_type": source_type, "position": "1", **ticked, **REASON}
        pk = self.address.split("/")[-3]
        self.post(reverse("admin:payments_provideraccount_add_route", args=[pk]), form)

    def approve(self) -> None:
        """Approve what waits for approval."""
        page = self.get(reverse("admin:payments_approvalrequest_waiting"))
        [address] = set(re.findall(r"/admin/payments/approvalrequest/[0-9a-f-]{36}/decide/", page))
        page = self.post(address, {"decision": "approve", "note": "Asked the merchant"})
        assert "Approved and done." in page


def _attribute(field: str, name: str) -> str:
    found = re.search(rf'\b{name}="([^"]*)"', field)
    return found[1] if found else ""
