"""Which changes need an approver. Commands need none, because their user already controls the host."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from payments.domain.merchants.assistants import lets_money_through
from payments.domain.merchants.scopes import MONEY_RIGHTS
from payments.models import ApiKey, ProviderAccount

NO_RULES: Mapping[str, Any] = MappingProxyType({})


def key_needs_approval(
    livemode: bool, kind: str, rights: Iterable[str] = (), rules: Mapping[str, Any] = NO_RULES
) -> bool:
    """Return whether such a key can move real money. Keys of test mode cannot, so one operator issues them."""
    has_right = kind == ApiKey.Kind.SECRET or bool(MONEY_RIGHTS.intersection(rights)) or lets_money_through(rules)
    return livemode and has_right


def account_change_needs_approval(
    account: ProviderAccount, title: str, enabled: bool, credentials: Mapping[str, str], settings: Mapping[str, str]
) -> bool:
    """Return whether this change needs an approver: each does in live mode, but for switching the account off."""
    given = {name: value for name, value in settings.items() if value}
    is_switched_off = account.enabled and not enabled
    is_only_that = title == account.title and given == account.settings and not any(credentials.values())
    return account.livemode and not (is_switched_off and is_only_that)
