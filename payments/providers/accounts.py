"""What stands between a provider and an operator: how a connector is called, and what it wants to be told."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from payments.providers.base import CardData, Provider


@dataclass(frozen=True, slots=True)
class Blank:
    """Something that an operator fills in for an account; `help_text` says where the provider shows it."""

    name: str
    label: str
    help_text: str = ""
    required: bool = True


@dataclass(frozen=True, slots=True)
class Account:
    """A merchant's account at a provider, as its connector is given it: both by the names of its blanks.

    The credentials appear in no repr, so that no log can show them.
    """

    livemode: bool
    credentials: Mapping[str, str] = field(repr=False)
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Connector:
    """A provider that kaha can reach: `connect` gives the `Provider` of one account.

    `credentials` are sealed and never shown again, `settings` are not secret. Of a webhook those `webhook_headers` are
    kept that its connector reads, and it is answered with `webhook_answer`. `test_card` is one that the provider
    publishes, and its sandbox approves.
    """

    name: str
    title: str
    credentials: tuple[Blank, ...]
    settings: tuple[Blank, ...]
    connect: Callable[[Account], Provider]
    webhook_headers: tuple[str, ...] = ()
    webhook_answer: str = ""
    test_card: CardData | None = None
