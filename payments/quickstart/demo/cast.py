"""The made-up merchants, and the operators who look after them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from django.contrib.auth.models import User

from payments import clock
from payments.domain.merchants.merchants import create_merchant
from payments.domain.merchants.terms import set_fee
from payments.ids import new_id
from payments.ledger.fees import Rate
from payments.models import Merchant
from payments.quickstart.demo.shop import Outage, Shop
from payments.sourcetypes import SOURCE_TYPES, Kind
from payments.vault import Place, Purpose, seal

OPERATORS = ("demo.lourdes", "demo.efren")


@dataclass(frozen=True)
class Role:
    """A kind of shop: what it sells, for how much in centavos, and in which currencies it is paid."""

    title: str
    goods: Sequence[str]
    median_amount: int
    currencies: Sequence[tuple[str, float]] = (("PHP", 1),)
    # When its receiver was away: from so many hours ago to so many.
    outages: Sequence[tuple[float, float]] = ()
    has_receiver: bool = True


ROLES = (
    Role("Sari Mart", ("Groceries", "Rice and oil", "School supplies"), 85_000, outages=((26 * 24, 25.8 * 24),)),
    Role("Kape Batangas", ("Coffee beans", "Iced coffee", "Pastries"), 32_000, outages=((5, 0),)),
    Role("Isla Ferries", ("Ferry ticket", "Two ferry tickets"), 145_000, (("PHP", 9), ("USD", 1))),
    Role("Lakbay Hotels", ("One night", "Three nights", "Day tour"), 480_000, (("PHP", 6), ("USD", 3), ("JPY", 1))),
    Role("Bayani Books", ("Novel", "Textbook", "Comics"), 60_000, outages=((16 * 24, 4.5 * 24),)),
    Role("Sinag Solar", ("Panel", "Battery"), 1_900_000, has_receiver=False),
)
FEES = {Kind.CARD: Rate(350, 1500), Kind.WALLET: Rate(230), Kind.SCHEME: Rate(100, 500), Kind.BANK: Rate(80, 1000)}
CARD_FEES = {"USD": Rate(390, 30), "JPY": Rate(390, 40)}


def shops(count: int, start: datetime, present: datetime, random: Random) -> list[tuple[Shop, Role]]:
    """`count` new merchants that have been here since `start`."""
    _have_keys_made()
    with clock.at(start):
        staff = _operators()
        roles = [ROLES[number % len(ROLES)] for number in range(count)]
        return [(_shop(role, staff, present, random), role) for role in roles]


def _operators() -> Sequence[User]:
    """Two members of the staff by name only: neither can sign in."""
    users = User.objects
    return [users.filter(username=name).first() or users.create_user(name, password=None) for name in OPERATORS]


def _have_keys_made() -> None:
    """Data keys are of the present, whatever time is told afterwards."""
    for purpose in Purpose:
        seal("", Place(purpose, new_id(), new_id(), "demo"))


def _shop(role: Role, staff: Sequence[User], present: datetime, random: Random) -> Shop:
    merchant = create_merchant(_free_title(role.title), statement_descriptor=role.title).merchant
    _set_fees(merchant)
    outages: list[Outage] = [(_ago(present, first), _ago(present, last)) for first, last in role.outages]
    url = f"https://{role.title.lower().replace(' ', '-')}.example/kaha" if role.has_receiver else ""
    return Shop(merchant, random, url, outages, staff)


def _free_title(title: str) -> str:
    """`title`, with a number where a merchant has it already."""
    taken = Merchant.objects.filter(title__startswith=title).count()
    return f"{title} {taken + 1}" if taken else title


def _set_fees(merchant: Merchant) -> None:
    for source_type in SOURCE_TYPES:
        set_fee(merchant, source_type.name, "PHP", FEES[source_type.kind])
    for currency, rate in CARD_FEES.items():
        set_fee(merchant, "card", currency, rate)
    merchant.refresh_from_db()


def _ago(present: datetime, hours: float) -> datetime:
    return present - timedelta(hours=hours)
