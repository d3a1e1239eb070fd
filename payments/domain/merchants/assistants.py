"""What an assistant's key may ask for: its tools that move money, and the amounts up to which no person decides."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User

from payments.domain.catalogue.said import said
from payments.ids import new_id
from payments.models import AMOUNT_MAX, ApiKey
from payments.money import CURRENCIES, parse_amount, plain_amount

# Each tool that moves money or asks for some, and what it does. A key without the tool may not even ask.
TOOLS = {
    "charge": "charge a card that is kept for a customer",
    "capture": "capture a held charge",
    "void": "void a charge",
    "refund": "refund a charge",
    "link": "make a payment link",
    "request": "send a payment request to a customer",
    "payout": "pay out the balance",
}
Rules = dict[str, dict[str, Any]]


class BadRules(ValueError):
    """Rules that are not understood; the message is for the person who wrote them."""


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


def parse_rules(lines: Iterable[str]) -> Rules:
    """Return the rules that `lines` write. Raise BadRules."""
    rules: Rules = {}
    for line in filter(None, map(str.strip, lines)):
        tool, *amounts = line.split()
        if tool not in TOOLS or tool in rules:
            raise BadRules(said("Each tool is named once, and is one of {tools}.", tools=", ".join(TOOLS)))
        rules[tool] = _amounts(amounts) if amounts else {}
    return rules


def shown_rules(rules: Mapping[str, Any]) -> list[str]:
    """Return rules as `parse_rules` reads them."""
    found = {tool: Rule.of(rules, tool) for tool in sorted(rules)}
    return [f"{tool} {rule}" if rule else tool for tool, rule in found.items()]


def lets_money_through(rules: Mapping[str, Any]) -> bool:
    """Return whether a key with these rules moves money without a person."""
    return any(rules.values())


def may_act(key: ApiKey, tool: str) -> bool:
    """Return whether the key works, its merchant is not closed, and its rules name the tool."""
    return key.works and not key.merchant.is_closed and tool in key.rules


def asking_account(name: str) -> User:
    """Return a new account that nobody can sign in to, in whose name an assistant asks."""
    user = User(username=f"{name or 'Assistant'} (assistant {new_id().hex[-12:]})", is_active=False)
    user.set_unusable_password()
    user.save()
    return user


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
