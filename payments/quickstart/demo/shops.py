"""The merchants of the demo, the operators who look after them, and what the merchants sell."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from random import Random
from typing import TypeVar
from uuid import UUID

from django.contrib.auth.models import Group, User

from payments import clock
from payments.domain.merchants.merchants import create_merchant
from payments.domain.merchants.terms import set_fee
from payments.domain.shared.caller import Caller, IdempotencyKey, RequestFacts
from payments.ids import new_id, public_id
from payments.ledger.fees import Rate
from payments.models import ApiKey, Merchant, PayoutAccount
from payments.sourcetypes import SOURCE_TYPES, Means
from payments.staff.roles import end_wait
from payments.sweeps.scope import Scope
from payments.vault import Place, Purpose, request_fingerprint, seal

# By name, with their role; without one, every refund of theirs needs an approval.
OPERATORS = {"demo.lourdes": "finance", "demo.efren": "finance", "demo.tala": ""}
FEES = {Means.CARD: Rate(350, 1500), Means.WALLET: Rate(230), Means.SCHEME: Rate(100, 500), Means.BANK: Rate(80, 1000)}
CARD_FEES = {"USD": Rate(390, 30), "JPY": Rate(390, 40)}
# What 1,000 centavos are worth in the smallest unit of another currency.
UNITS = {"PHP": 1000, "USD": 18, "JPY": 27}
# How many of the latest vaulted sources of a merchant are charged again.
VAULTED_COUNT = 2000

Choice = TypeVar("Choice")
Outage = tuple[datetime, datetime]


def pick(rng: Random, weighted: Sequence[tuple[Choice, float]]) -> Choice:
    """Return one of the choices, by their weights."""
    choices, weights = zip(*weighted, strict=True)
    return rng.choices(choices, weights)[0]


@dataclass(frozen=True)
class Profile:
    """What a merchant sells, for how many centavos, and in which currencies it is paid."""

    title: str
    goods: Sequence[str]
    median_amount: int
    currencies: Sequence[tuple[str, float]] = (("PHP", 1),)
    # When its webhook receiver was down: from so many hours ago to so many.
    outages: Sequence[tuple[float, float]] = ()
    has_receiver: bool = True


PROFILES = (
    Profile("Sari Mart", ("Groceries", "Rice and oil", "School supplies"), 85_000, outages=((26 * 24, 25.8 * 24),)),
    Profile("Kape Batangas", ("Coffee beans", "Iced coffee", "Pastries"), 32_000, outages=((5, 0),)),
    Profile("Isla Ferries", ("Ferry ticket", "Two ferry tickets"), 145_000, (("PHP", 9), ("USD", 1))),
    Profile("Lakbay Hotels", ("One night", "Three nights", "Day tour"), 480_000, (("PHP", 6), ("USD", 3), ("JPY", 1))),
    Profile("Bayani Books", ("Novel", "Textbook", "Comics"), 60_000, outages=((16 * 24, 4.5 * 24),)),
    Profile("Sinag Solar", ("Panel", "Battery"), 1_900_000, has_receiver=False),
)
# What the demo shop of the quickstart sells.
OWN = Profile("Demo Shop", ("Halo-halo", "Kapeng barako", "Leche flan"), 38_000, outages=((3, 0),))


@dataclass(frozen=True)
class Purchase:
    """What is charged; `number` is the merchant's own order number."""

    number: int
    amount: int
    currency: str
    description: str


@dataclass(eq=False)
class Shop:
    """A merchant in test mode, and the operators. During `outages` its webhook receiver does not answer."""

    merchant: Merchant
    random: Random
    profile: Profile = PROFILES[0]
    notify_url: str = ""
    outages: Sequence[Outage] = ()
    operators: Sequence[User] = ()
    # Public IDs of sources that are vaulted for customers.
    vaulted: deque[str] = field(default_factory=lambda: deque(maxlen=VAULTED_COUNT))
    orders: int = 1000

    @property
    def scope(self) -> Scope:
        """Return what a sweep for this merchant looks at."""
        return Scope(self.merchant.id)

    def caller(self, key: str = "") -> Caller:
        """Return the merchant's program with a new request, under the idempotency key `key` if there is one."""
        fingerprint = request_fingerprint("POST", "/v2/charges", key.encode())
        own = IdempotencyKey(key, fingerprint) if key else None
        return Caller(
            self.merchant.id,
            False,
            self._key_id,
            request=RequestFacts(public_id("req", new_id()), idempotency=own),
            merchant=self.merchant,
        )

    @cached_property
    def _key_id(self) -> UUID | None:
        keys = self.merchant.keys.filter(livemode=False, kind=ApiKey.Kind.SECRET)
        return keys.values_list("id", flat=True).first()

    def purchase(self) -> Purchase:
        """Return the next order."""
        profile = self.profile
        self.orders += 1
        currency = pick(self.random, profile.currencies)
        centavos = profile.median_amount * self.random.lognormvariate(0, 0.6)
        amount = max(100, round(centavos * UNITS[currency] / 1000))
        return Purchase(self.orders, amount, currency, f"{self.random.choice(profile.goods)}, order {self.orders}")


def create_shops(
    count: int, start: datetime, present: datetime, random: Random, own: Merchant | None = None
) -> list[Shop]:
    """Create `count` merchants as of `start`; return them, and last the shop of the merchant that is there already.

    Raise VaultUnavailable.
    """
    # Data keys must not be created in the past.
    for purpose in Purpose:
        seal("", Place(purpose, new_id(), new_id(), "demo"))
    if own:
        # Otherwise it would have no bank account in the past.
        PayoutAccount.objects.filter(merchant=own).update(effective_at=start, created_at=start)
    with clock.at(start):
        operators = [_operator(name, role) for name, role in OPERATORS.items()]
        profiles = [PROFILES[number % len(PROFILES)] for number in range(count)]
        shops = [_create_shop(profile, operators, present, random) for profile in profiles]
        return [*shops, _set_up(own, OWN, operators, present, random)] if own else shops


def _operator(name: str, role: str) -> User:
    """Return the operator `name`, who has the approval limits of `role` and cannot sign in."""
    operator = User.objects.filter(username=name).first() or User.objects.create_user(name, password=None)
    operator.groups.set(Group.objects.filter(name=role))
    end_wait(operator)
    return operator


def _create_shop(profile: Profile, operators: Sequence[User], present: datetime, random: Random) -> Shop:
    taken = Merchant.objects.filter(title__startswith=profile.title).count()
    title = f"{profile.title} {taken + 1}" if taken else profile.title
    merchant = create_merchant(title, statement_descriptor=profile.title).merchant
    return _set_up(merchant, profile, operators, present, random)


def _set_up(merchant: Merchant, profile: Profile, operators: Sequence[User], present: datetime, random: Random) -> Shop:
    for source_type in SOURCE_TYPES:
        set_fee(merchant, source_type.name, "PHP", FEES[source_type.kind])
    for currency, rate in CARD_FEES.items():
        set_fee(merchant, "card", currency, rate)
    merchant.refresh_from_db()
    outages = [(present - timedelta(hours=first), present - timedelta(hours=last)) for first, last in profile.outages]
    url = f"https://{profile.title.lower().replace(' ', '-')}.example/kaha" if profile.has_receiver else ""
    return Shop(merchant, random, profile, url, outages, operators)
