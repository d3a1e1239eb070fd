"""What an assistant's key may ask for: the tools of its rules, which have amounts up to which no person decides."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User

from payments.domain.catalogue.error_table import KEY_REVOKED
from payments.domain.shared.caller import NO_REQUEST, Caller, RequestFacts
from payments.domain.shared.errors import conflict
from payments.ids import new_id
from payments.models import ApiKey, Merchant
from payments.money import plain_amount

Rules = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Rule:
    """The amounts in one currency up to which a tool needs no person: of each call, and of all in a day (UTC)."""

    currency: str
    each: int
    day: int

    def __str__(self) -> str:
        each, day = (plain_amount(amount, self.currency) for amount in (self.each, self.day))
        return f"{self.currency} {each} {day}"

    @classmethod
    def of(cls, rules: Mapping[str, Any], tool: str) -> "Rule | None":
        """Return the rule of a tool, None where a person decides each call."""
        return cls(**rules[tool]) if rules.get(tool) else None


def shown_rules(rules: Mapping[str, Any]) -> list[str]:
    """Return rules as `parse_rules` reads them."""
    found = {tool: Rule.of(rules, tool) for tool in sorted(rules)}
    return [f"{tool} {rule}" if rule else tool for tool, rule in found.items()]


def may_act(key: ApiKey, tool: str) -> bool:
    """Return whether the key works, its merchant is not closed, and its rules name the tool."""
    return key.works and not key.merchant.is_closed and tool in key.rules


def require_may_act(key: ApiKey, tool: str) -> None:
    """Raise PaymentError where the key may not ask for the tool any more."""
    if not may_act(key, tool):
        raise conflict(KEY_REVOKED, "The key does not work any more.")


def caller_of(key: ApiKey, request: RequestFacts = NO_REQUEST) -> Caller:
    """Return the caller that the verbs see: the key's merchant with its terms as they are now."""
    merchant = Merchant.objects.get(id=key.merchant_id)
    return Caller(merchant.id, key.livemode, key.id, request=request, merchant=merchant)


def asking_account(name: str) -> User:
    """Return a new account that nobody can sign in to, in whose name an assistant asks."""
    user = User(username=f"{name or 'Assistant'} (assistant {new_id().hex[-12:]})", is_active=False)
    user.set_unusable_password()
    user.save()
    return user
