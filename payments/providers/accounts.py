"""Connectors as operators see them: their names, credentials and settings."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from payments.providers.base import CardData, Provider

ONE_LINE = re.compile(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]{1,4096}")
# What an HTTP header carries: visible ASCII.
VISIBLE_ASCII = re.compile(r"[!-~]{1,4096}")
VISIBLE_FORM = "It must be letters, digits and signs without spaces, as the provider shows it."


@dataclass(frozen=True, slots=True)
class AccountField:
    """Something that an operator fills in for an account; `help_text` says where the provider shows it.

    The whole value must match `pattern`; `form` says in words what that is.
    """

    name: str
    label: str
    help_text: str = ""
    required: bool = True
    pattern: re.Pattern[str] = ONE_LINE
    form: str = "It must be one line of text without control characters."


@dataclass(frozen=True, slots=True)
class Account:
    """A merchant's account at a provider, as its connector is given it: both by the names of its fields.

    The credentials appear in no repr, so that no log can show them.
    """

    livemode: bool
    credentials: Mapping[str, str] = field(repr=False)
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Connector:
    """A provider that kaha can reach: `connect` gives the `Provider` of one account.

    Requests go to hosts of `domains` alone (see `http.restrict`). `credentials` are sealed and never shown again,
    `settings` are not secret; `merchant_setting` names the one with the merchant's own ID at the provider. Of a webhook
    those `webhook_headers` are kept that its connector reads, and it is answered with `webhook_answer`. `test_card` is
    one that the provider publishes, and its sandbox approves. `takes_responses` where it is a `TakesResponses`, and
    `keeps_records` where it is a `KeepsRecords`.
    `payout_obstacle` says why it cannot pay out to the bank with a BIC in a currency, empty where it can; without it
    the provider pays nothing out.
    """

    name: str
    title: str
    credentials: tuple[AccountField, ...]
    settings: tuple[AccountField, ...]
    connect: Callable[[Account], Provider]
    merchant_setting: str = ""
    domains: tuple[str, ...] = ()
    webhook_headers: tuple[str, ...] = ()
    webhook_answer: str = ""
    takes_responses: bool = False
    keeps_records: bool = False
    test_card: CardData | None = None
    payout_obstacle: Callable[[str, str], str] | None = None
