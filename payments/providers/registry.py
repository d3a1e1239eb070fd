"""Which provider serves which charge."""

from payments.providers.base import Provider
from payments.providers.simulator.connector import Simulator

PROVIDERS: dict[str, Provider] = {"simulator": Simulator()}


def provider_named(name: str) -> Provider:
    """The provider that an attempt names. Raises KeyError for one that is no longer installed."""
    return PROVIDERS[name]


def provider_for(livemode: bool, source_type: str) -> Provider | None:
    """The provider that takes `source_type` in this mode; None where there is none."""
    if livemode:
        return None
    provider = PROVIDERS["simulator"]
    return provider if provider.capabilities(source_type) else None
