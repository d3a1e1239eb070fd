"""One buyer at the shop: what can be done there, at the payment page and at the bank, and what kaha then sends."""

from dataclasses import dataclass, field
from random import Random
from ssl import SSLContext
from typing import Any

import httpx2

from kaha_cli.client import Client
from kaha_cli.failures import ApiRefused
from kaha_cli.feed import Item
from kaha_cli.profiles import is_loopback
from kaha_cli.rehearse.books import Charges, paid_charge
from kaha_cli.rehearse.browser import Browser, Page, at_once, is_success
from kaha_cli.rehearse.relay import MANNERS, SESSION, TO_REFUSE, Letter, Relay

SESSIONS = "/v2/checkout_sessions/"
APPROVED, DECLINED, PIN, MEDDLED_AMOUNT = "4000000000003055", "declined", "123456", "7"
DECLINED_CARDS = [f"400000000000{digits}" for digits in ("0002", "9995", "9987", "9979", "0127", "0119")]
CURRENCIES = ("PHP", "PHP", "JPY", "KWD")
REDIRECTS, ATTEMPTS, ANSWER_SECONDS = 10, 3, 15.0

# Who did something, and what. No line has an ID or a time, so that a seed gives the same again.
Line = tuple[str, str]


class Stopped(Exception):
    """Ctrl-C was pressed."""


@dataclass
class Shop:
    """Where the shop is, and how to reach it. `run` is in the carts of this run, which are not those of others.

    `unopened` are the hosts to which it sent buyers who did not go there, because they are not among its `hosts`.
    """

    client: Client
    relay: Relay
    begin: str
    refund: str
    hosts: set[str]
    seed: int
    run: str
    tls: SSLContext
    unopened: set[str] = field(default_factory=set)


class Visit:
    """The acts of a buyer, each of which adds to the lines of the story `about` them.

    `orders` has by reference the sessions that the buyer was led to, the newest order last, its newest session first;
    `wrong` are the codes of what the shop did wrong at once.
    """

    def __init__(self, shop: Shop, number: int, kind: str, manner: str) -> None:
        self.number, self.about, self.seed = number, kind, shop.seed
        self.lines, self.wrong = list[Line](), list[str]()
        self.orders, self.charges = dict[str, list[dict[str, Any]]](), dict[str, Charges]()
        self._shop, self._manner = shop, manner
        self._random = Random(f"{shop.seed}/{number}")  # nosec B311 # no secret
        self._currency = self._random.choice(CURRENCIES)
        self._browser = Browser(verify=shop.tls, trust_env=False, timeout=ANSWER_SECONDS)
        self._page, self._carts, self._has_paid, self._taken = Page(), 0, False, set[str]()

    def buy(self, again: bool = False, times: int = 1, **meddled: str) -> None:
        """Begin an order, or the same `again`, in as many tabs at once."""
        self._page, self._has_paid, self._carts = Page(), False, self._carts + (not again)
        cart = {"cart": f"{self._shop.run}-{self.number}-{self._carts}", "currency": self._currency}
        how = "the same again" if again else f"for {self._currency}" + (" in two tabs at once" if times > 1 else "")
        sent = "".join(f", and has the browser send {name} {value}" for name, value in meddled.items())
        self._add("buyer", f"buys {how}{sent}")
        pages = at_once(*[lambda: self._browser.open(self._shop.begin, cart | meddled)] * times)
        found = [(page, session) for page in pages if (session := self._session_at(page))]
        if not found:
            self._add("shop", f"answers {_words(pages[0].status)}, which leads to no payment page of this account")
            # What the shop does not sell a second time, or at that price, it need not.
            self.wrong += [] if again or meddled else ["begin_failed"]
            return
        self._add("shop", "leads to the payment page")
        sessions = [session for _, session in found]
        reference = found[0][0].member("reference") or sessions[0]["client_reference_id"] or ""
        by_id = {session["id"]: session for session in [*sessions, *self.orders.pop(reference, [])]}
        self.orders[reference] = list(by_id.values())
        # In whole units of the currency, too.
        if str(sessions[0]["amount_total"]).rstrip("0") in meddled.values():
            self.wrong.append("amount_from_browser")

    def open(self, tab: int = 0) -> None:
        """Open the payment page in a tab."""
        if self.orders:
            session = self._newest[min(tab, len(self._newest) - 1)]
            self._page = self._browser.open(session["payment_url"])

    def pay(self, card: str = APPROVED, way: str = "card", tab: int = 0, times: int = 1) -> None:
        """Pay on the payment page, as it was opened or as the last attempt left it, with so many clicks at once."""
        if tab or not self._page.form("attempt"):
            self.open(tab)
        form = self._page.form("attempt")
        if form is None or "way" not in form.choices:
            self._add("buyer", "finds nothing to pay on the payment page")
            return
        number = self._random.choice(DECLINED_CARDS) if card == DECLINED else card
        chosen = way if way in form.choices["way"] else form.choices["way"][0]
        fields = form.filled() | {"way": chosen} | ({"number": number} if chosen == "card" else {})
        how = f"card {number[-4:]}" if chosen == "card" else chosen
        self._add("buyer", f"pays by {how}{' in the other tab' if tab else ', clicking twice' if times > 1 else ''}")
        self._has_paid = True
        self._follow(at_once(*[lambda: self._browser.open(self._page.url, fields)] * times)[-1])
        if chosen != way:
            self.decide("cancel" if card == DECLINED else "pay")

    def decide(self, decision: str = "pay", pin: str = PIN, returns: bool = True) -> None:
        """Decide on the bank's page, and then go where it leads, or close the browser."""
        if form := self._page.form("decision"):
            asks_pin = "pin" in form.fields
            self._add("buyer", f"types the PIN {pin}" if asks_pin else f"answers the bank: {decision}")
            decided = {"decision": decision} | ({"pin": pin} if asks_pin else {})
            answer = self._browser.open(self._page.url, form.filled() | decided)
            self._follow(answer if returns else Page())

    def come_back(self, times: int = 1, of: int = -1) -> None:
        """Open the return address of the newest order, with the session of order `of` in it."""
        if self.orders:
            session, other = self._newest[0], list(self.orders.values())[of][0]["id"]
            url = session["success_url"].replace("{CHECKOUT_SESSION_ID}", session["id"]).replace(session["id"], other)
            how = " with the session of the first order" if of == 0 else " twice" if times > 1 else ""
            self._add("buyer", f"opens the return address{how}")
            self._visit(url, times)

    def come_back_at_once(self) -> None:
        """Open the return address at the moment in which kaha sends that the session is completed."""
        items = self._new_events((".completed",))
        if found := [item for item in items if item.value["type"].endswith("session.completed")]:
            url = self._newest[0]["success_url"].replace("{CHECKOUT_SESSION_ID}", self._newest[0]["id"])
            self._add("buyer", "opens the return address, while kaha sends checkout_session.completed")
            if self._is_of_shop(url):
                letter = Letter(found[0])
                answers = at_once(lambda: self._shop.relay.send(letter)[0], lambda: self._opened(url))
                self._answered(answers)

    def go_back(self) -> None:
        """Go back to the shop by the address for it."""
        if self.orders:
            self._add("buyer", "goes back to the shop")
            self._visit(self._newest[0]["cancel_url"])

    def refund(self) -> None:
        """Have the shop's staff refund six tenths of the newest order, with a second click on the button."""
        if self.orders and self._shop.refund:
            amount = str(self._newest[0]["amount_total"] * 6 // 10)
            self._add("staff", f"refunds {amount}, clicking twice")
            wish = {"reference": list(self.orders)[-1], "amount": amount}
            self._answered([self._browser.open(self._shop.refund, wish).status for _ in range(2)])

    def bring(self, *wanted: str, is_last: bool = False) -> None:
        """Bring the shop what kaha has sent and it has not taken, once there is an event of each of these types."""
        letters = MANNERS["in order" if is_last else self._manner]
        for letter in letters(self._new_events(wanted)):
            is_taken = any(self._deliver(letter) for _ in range(ATTEMPTS if is_last else 1))
            self.wrong += ["event_refused"] if is_last and not is_taken else []

    def read_charges(self) -> dict[str, Charges]:
        """Return by reference the charges by which orders were paid, as kaha has them now."""
        for reference, sessions in self.orders.items():
            charges = [paid_charge(self.session(session["id"])) for session in sessions]
            self.charges[reference] = [charge for charge in charges if charge]
        return self.charges

    def is_held(self) -> bool:
        """Return whether money of this buyer is held on a card."""
        newest = self._newest if self.orders else []
        return any(self.session(session["id"])["payment_status"] == "authorized" for session in newest)

    def session(self, session: str) -> dict[str, Any]:
        """Return a session as kaha has it now."""
        found: dict[str, Any] = self._shop.client.get(f"{SESSIONS}{session}").json()
        return found

    def close(self) -> None:
        """Close the browser."""
        self._browser.close()

    def _new_events(self, wanted: tuple[str, ...]) -> list[Item]:
        """Return what kaha has sent and the shop has not taken, once there is an event of each of these types."""
        sessions = [session["id"] for order in self.orders.values() for session in order]
        items = self._shop.relay.events_of(sessions, wanted if self._has_paid else ()) if sessions else []
        return [item for item in items if item.value["id"] not in self._taken]

    @property
    def _newest(self) -> list[dict[str, Any]]:
        return list(self.orders.values())[-1]

    def _deliver(self, letter: Letter) -> bool:
        """Send an event, and return whether it was taken."""
        event = letter.item.value
        what = f"{event['type']}, number {event['sequence']} of its {event['data']['object']['object']}"
        self._add("forger" if letter.how in TO_REFUSE else "kaha", f"sends {what}{letter.how}")
        statuses = self._shop.relay.send(letter)
        self._answered(statuses)
        is_taken = any(map(is_success, statuses))
        if is_taken and letter.how in TO_REFUSE:
            self.wrong.append(TO_REFUSE[letter.how])
        elif is_taken:
            self._taken.add(event["id"])
        return is_taken

    def _session_at(self, page: Page) -> dict[str, Any]:
        """Return the session to whose page the shop leads; nothing where it leads elsewhere."""
        address = page.member("payment_url") or page.location
        found = SESSION.search(address)
        try:
            session = self.session(found[0]) if found else {}
        except ApiRefused:
            # It is of another account.
            return {}
        return session if address.partition("?")[0] == session.get("payment_url") else {}

    def _follow(self, page: Page) -> None:
        """Follow redirects up to where they leave kaha, or a page asks the buyer."""
        for _ in range(REDIRECTS):
            if not page.location or _origin(page.location) != _origin(self._newest[0]["payment_url"]):
                break
            page = self._browser.open(page.location)
        self._page = page

    def _visit(self, url: str, times: int = 1) -> None:
        """Open an address of the shop, and follow its redirects."""
        if not self._is_of_shop(url):
            self._add("buyer", "stays, because that address is not of the shop")
            return
        self._answered(at_once(*[lambda: self._opened(url)] * times))

    def _opened(self, url: str) -> int:
        page, steps = self._browser.open(url), REDIRECTS
        while steps and page.location and self._is_of_shop(page.location) and not self._session_at(page):
            page, steps = self._browser.open(page.location), steps - 1
        return page.status

    def _is_of_shop(self, url: str) -> bool:
        is_of_shop = is_loopback(url) or httpx2.URL(url).host in self._shop.hosts
        self._shop.unopened |= set() if is_of_shop else {httpx2.URL(url).host}
        return is_of_shop

    def _answered(self, statuses: list[int]) -> None:
        self._add("shop", f"answers {' and '.join(map(_words, statuses))}")

    def _add(self, who: str, what: str) -> None:
        if self._shop.relay.stopped.is_set():
            raise Stopped
        self.lines.append((who, what))


def _origin(url: str) -> tuple[str, bytes]:
    return httpx2.URL(url).scheme, httpx2.URL(url).netloc


def _words(status: int) -> str:
    return str(status) if status else "nothing"
