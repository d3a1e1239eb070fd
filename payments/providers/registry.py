"""Which providers there are: the simulator of test mode, and the connectors that live mode reaches others by."""

from payments.providers.abilities import TakesResponses
from payments.providers.accounts import Account, Connector
from payments.providers.adyen.connector import CONNECTOR as ADYEN
from payments.providers.base import Provider
from payments.providers.simulator.connector import Simulator
from payments.providers.xendit.connector import CONNECTOR as XENDIT

SIMULATOR = "simulator"
PROVIDERS: dict[str, Provider] = {SIMULATOR: Simulator()}
CONNECTORS: dict[str, Connector] = {each.name: each for each in (ADYEN, XENDIT)}
PROVIDER_NAMES = sorted({*PROVIDERS, *CONNECTORS})


def provider_named(name: str) -> Provider:
    """Return the provider that needs no account. Raise KeyError for one that is not installed."""
    return PROVIDERS[name]


def takes_responses(name: str) -> bool:
    """Return whether merchants respond to disputes by the provider `name`."""
    connector = CONNECTORS.get(name)
    return connector.takes_responses if connector else isinstance(PROVIDERS.get(name), TakesResponses)


def keep_records() -> list[str]:
    """Return the names of the providers that list what they did at an account."""
    return [name for name, connector in CONNECTORS.items() if connector.keeps_records]


def connect(name: str, account: Account) -> Provider:
    """Return the provider `name`, connected with this account. Raise KeyError for one that is not installed."""
    return CONNECTORS[name].connect(account)
