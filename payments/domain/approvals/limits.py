"""What may be done alone: by a role, by a merchant's people, by an assistant's key, and which changes need two people.

Commands need nobody else, because their user already controls the host.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Max, QuerySet, Sum

from payments.domain.approvals.verbs import OUTWARD, TOOLS
from payments.domain.catalogue.refusal_texts import said
from payments.domain.charging.verbs import CHARGE, ON_CHARGES
from payments.domain.disputes.verbs import ACCEPT
from payments.domain.merchants.assistants import Rule, Rules
from payments.domain.payouts.terms import Terms
from payments.models import (
    AMOUNT_MAX,
    ApiKey,
    ApprovalLimit,
    ApprovalRequest,
    AssistantCall,
    Charge,
    OperatorAction,
    Payout,
    ProviderAccount,
)
from payments.models.merchants.merchant_access import membership_of
from payments.money import CURRENCIES, parse_amount

State = ApprovalRequest.State
# In live mode, a key with one of them needs an approver.
MONEY_RIGHTS = {verb.right for verb in (CHARGE, *ON_CHARGES, ACCEPT) if verb.right}
NO_RULES: Mapping[str, Any] = MappingProxyType({})


class BadRules(ValueError):
    """Rules that are not understood; the message is for the person who wrote them."""


def limit_of(operator: User, currency: str) -> int | None:
    """Return how much `operator` may give back alone: the highest limit of their roles; a superuser has all roles.

    None means that there is no limit for the currency, so a second operator must approve everything. For a merchant's
    own people it is the merchant's limit; without one they give back a whole charge.
    """
    limits = ApprovalLimit.objects.filter(currency=currency)
    if membership := membership_of(operator):
        own = limits.filter(merchant=membership.merchant_id).values_list("amount", flat=True).first()
        return AMOUNT_MAX if own is None else own
    limits = limits.filter(merchant=None)
    if not operator.is_superuser:
        limits = limits.filter(role__user=operator)
    most: int | None = limits.aggregate(most=Max("amount"))["most"]
    return most


def limit_for(payout: Payout, operator: User) -> int | None:
    """Return up to how much `operator` alone lets a payout go out: one that somebody asked for takes another person."""
    return None if payout.requested_by_id else limit_of(operator, payout.currency)


def may_be_done_alone(verb: str, amount: int, given_back_already: int, limit: int | None) -> bool:
    """Return whether one operator is enough, where `given_back_already` went back without approval before."""
    return verb not in OUTWARD or (limit is not None and given_back_already + amount <= limit)


def given_back_alone(charge: Charge) -> int:
    """Return what went back, or will go back, without approval; parts of a refund count together."""
    actions = OperatorAction.objects.filter(charge=charge, kind__in=OUTWARD, decided_by=None)
    return _sum_of(actions)


def lets_through(key: ApiKey, tool: str, amount: int, currency: str, at: datetime) -> bool:
    """Return whether the key's rule lets a call move `amount` with no person, beside what moved so that day (UTC)."""
    rule = Rule.of(key.rules, tool)
    if rule is None or rule.currency != currency or amount > rule.each:
        return False
    midnight = at.replace(hour=0, minute=0, second=0, microsecond=0)
    by_rule = AssistantCall.objects.filter(proposed_by=key.asks_as_id, created_at__gte=midnight, decided_by=None)
    return _sum_of(by_rule.filter(after__tool=tool, currency=currency)) + amount <= rule.day


def parse_rules(lines: Iterable[str]) -> Rules:
    """Return the rules that `lines` write. Raise BadRules."""
    rules: Rules = {}
    for line in filter(None, map(str.strip, lines)):
        tool, *amounts = line.split()
        if tool not in TOOLS or tool in rules:
            raise BadRules(said("Each tool is named once, and is one of {tools}.", tools=", ".join(TOOLS)))
        rules[tool] = _amounts(amounts) if amounts else {}
    return rules


def key_needs_approval(
    livemode: bool, kind: str, rights: Iterable[str] = (), rules: Mapping[str, Any] = NO_RULES
) -> bool:
    """Return whether such a key can move real money. Keys of test mode cannot, so one operator issues them."""
    has_right = kind == ApiKey.Kind.SECRET or bool(MONEY_RIGHTS.intersection(rights)) or any(rules.values())
    return livemode and has_right


def account_change_needs_approval(
    account: ProviderAccount, title: str, enabled: bool, credentials: Mapping[str, str], settings: Mapping[str, str]
) -> bool:
    """Return whether this change needs an approver: each does in live mode, but for switching the account off."""
    given = {name: value for name, value in settings.items() if value}
    is_switched_off = account.enabled and not enabled
    is_only_that = title == account.title and given == account.settings and not any(credentials.values())
    return account.livemode and not (is_switched_off and is_only_that)


def schedule_needs_approval(livemode: bool, before: Terms | None, after: Terms) -> bool:
    """Return whether two operators are needed: where live money goes out sooner, for the first time or another way.

    Each live payout is approved by itself, so a shorter interval needs nobody; but the delay and the reserve are what
    covers later refunds and disputes, and the way out decides whom the money is given to first.
    """
    if not livemode or before == after:
        return False
    if before is None or before.provider_account != after.provider_account:
        return True
    return (
        after.delay_days < before.delay_days
        or after.reserve_percent < before.reserve_percent
        or after.reserve_days < before.reserve_days
    )


def _sum_of(requests: QuerySet[Any]) -> int:
    """Return what those of `requests` move that are done or will be."""
    done = requests.filter(state__in=(State.APPROVED, State.DONE))
    total: int = done.aggregate(total=Sum("amount", default=0))["total"]
    return total


def _amounts(words: list[str]) -> dict[str, Any]:
    try:
        currency, *numbers = words
        each, day = (parse_amount(number, currency) for number in numbers)
    except ValueError:
        example = "refund PHP 1000.00 5000.00"
        raise BadRules(
            said("Write the tool alone, or with a currency and two amounts, such as {example}.", example=example)
        ) from None
    if currency not in CURRENCIES or not 1 <= each <= day <= AMOUNT_MAX:
        raise BadRules(said("The amount of a day is at least that of each call, and both are ones that can be paid."))
    return {"currency": currency, "each": each, "day": day}
