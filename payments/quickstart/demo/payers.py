"""Who pays: names, addresses and test cards."""

from datetime import datetime
from random import Random

FIRST_NAMES = ("Maria", "Juan", "Jose", "Ana", "Liza", "Ramon", "Grace", "Paolo", "Carmela", "Andres", "Bea", "Miguel")
LAST_NAMES = ("Santos", "Reyes", "Cruz", "Bautista", "Garcia", "Mendoza", "Torres", "Flores", "Ramos", "Aquino")


def name(random: Random) -> str:
    return f"{random.choice(FIRST_NAMES)} {random.choice(LAST_NAMES)}"  # nosec B311 # a demo has no secrets


def card(random: Random, number: str, moment: datetime) -> dict[str, str]:
    """A test card as the API takes it, valid at `moment` and for some years."""
    return {
        "number": number,
        "name": name(random),
        "exp_month": f"{random.randint(1, 12):02}",  # nosec B311 # a demo has no secrets
        "exp_year": str(moment.year + random.randint(2, 6)),  # nosec B311 # a demo has no secrets
        "cvc": f"{random.randrange(1000):03}",  # nosec B311 # a demo has no secrets
    }


def email(random: Random, full_name: str) -> str:
    return f"{full_name.lower().replace(' ', '.')}{random.randrange(10_000)}@example.com"  # nosec B311 # a demo has no secrets
