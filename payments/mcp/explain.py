"""The search, and explanations of a payment and of the balance in plain sentences."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from payments import clock
from payments.api.account import BALANCE
from payments.domain.catalogue.error_table import RESOURCE_MISSING
from payments.domain.charging import charges
from payments.domain.merchants.assistants import caller_of
from payments.domain.shared.charge_story import charge_story
from payments.domain.shared.errors import PaymentError
from payments.ids import public_id
from payments.mcp.results import foreign
from payments.mcp.tools import Arguments, Asked, Own, Refusal, Tool, read
from payments.models import Checkout, PayoutSchedule, SearchEntry
from payments.models.merchants.merchant_access import Limit
from payments.money import shown_amount
from payments.search import find
from payments.search.query import Query, parse

# Of each sort of objects, so many of the newest are shown.
SHOWN = 5
QUERY_MAX_LENGTH = 200
LATEST = {"limit": 100}
ENTRIES = SearchEntry.objects.all()
# What the search looks for: the right to read it, the prefix of its ID, and the rows that have its mode and kind.
SORTS: dict[str, tuple[Callable[[Query, Limit], find.Found], str, str, QuerySet[Any]]] = {
    "charges": (find.charges, "charges:read", "ch", ENTRIES),
    "checkout_sessions": (find.checkouts, "checkout:read", "cs", Checkout.objects.filter(kind=Checkout.Kind.SESSION)),
    "payment_requests": (find.checkouts, "checkout:read", "pr", Checkout.objects.filter(kind=Checkout.Kind.REQUEST)),
    "payment_links": (find.links, "checkout:read", "plink", ENTRIES),
    "customers": (find.customers, "customers:read", "cus", ENTRIES),
}


def _schema(**members: str) -> dict[str, Any]:
    properties = {name: {"type": "string", "description": text} for name, text in members.items()}
    return {"type": "object", "properties": properties, "required": [*members], "additionalProperties": False}


def _search(asked: Asked, arguments: Arguments) -> Any:
    query = parse(str(arguments.get("query", ""))[:QUERY_MAX_LENGTH], timezone.localdate(clock.now()))
    limit, found = frozenset({asked.key.merchant_id}), {}
    for name, (look, right, prefix, rows) in SORTS.items():
        if right in asked.key.rights:
            ids = look(query, limit).newest(find.FEW_MAX)
            own = rows.filter(pk__in=ids, merchant_id=asked.key.merchant_id, livemode=asked.key.livemode)
            newest = own.order_by("-pk").values_list("pk", flat=True)[:SHOWN]
            found[name] = list(_readable(asked, (f"/v2/{name}/{public_id(prefix, pk)}" for pk in newest)))
    return {"object": Own("search"), **found}


def _readable(asked: Asked, paths: Iterator[str]) -> Iterator[Any]:
    """Yield the objects that are still there."""
    for path in paths:
        try:
            yield read(asked, path)
        except Refusal as refusal:
            if refusal.code != RESOURCE_MISSING:
                raise


def _charge(asked: Asked, arguments: Arguments) -> Any:
    try:
        found = charges.find(caller_of(asked.key), str(arguments.get("id", "")))
    except PaymentError as refusal:
        raise Refusal(refusal.code, refusal.message) from refusal
    story = charge_story(found)
    return {
        "object": Own("explanation"),
        "id": str(found),
        "status": found.status,
        "money": list(map(foreign, story.money)),
        "facts": list(map(foreign, story.facts)),
        "story": [{"at": clock.iso(at), **foreign(words)} for at, words in story.happened],
    }


def _balance(asked: Asked, _: Arguments) -> Any:
    balance = read(asked, "/v2/balance")
    latest = read(asked, "/v2/balance_transactions/", LATEST)["data"]
    return {
        "object": Own("explanation"),
        "balance": [Own(sentence) for sentence in _sentences(balance)],
        "latest_changes": [Own(sentence) for sentence in _sums(latest)],
        "payouts": [Own(sentence) for sentence in _payouts(asked)],
    }


def _sentences(balance: dict[str, Any]) -> Iterator[str]:
    for name in ("available", "pending", "reserved", "held"):
        for each in balance[name]:
            amount = shown_amount(each["amount"], each["currency"])
            yield f"{name.capitalize()}: {amount}. {BALANCE.members[name].text}"


def _sums(latest: list[dict[str, Any]]) -> Iterator[str]:
    sums: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for each in latest:
        sums[each["type"], each["balance"], each["currency"]].append(each["amount"])
    for (kind, balance, currency), amounts in sums.items():
        yield f"{kind} ({balance}): {shown_amount(sum(amounts), currency)}, by {len(amounts)}."


def _payouts(asked: Asked) -> Iterator[str]:
    for schedule in PayoutSchedule.objects.of(asked.key.merchant_id, asked.key.livemode).order_by("currency"):
        when = f"The next is made at {clock.iso(schedule.next_at)}" if schedule.next_at else "Somebody asks for each"
        kept = f", {schedule.reserve_percent} % are kept for {schedule.reserve_days} days" * bool(
            schedule.reserve_percent
        )
        yield f"{schedule.currency} is paid out {schedule.interval}. {when}{kept}."


EXPLAINING = (
    Tool(
        "search",
        f"Find charges, checkouts, links and customers: by names, words, amounts, days, IDs. {SHOWN} of each at most.",
        _schema(query="What to find, such as `juan 1,250.00 yesterday`."),
        _search,
        "charges:read",
    ),
    Tool(
        "explain_charge",
        "Explain a payment: its money, what was checked, and what happened, in plain sentences.",
        _schema(id="The ID of the charge."),
        _charge,
        "charges:read",
    ),
    Tool(
        "explain_balance",
        "Explain the balance: what each part of it is, the newest changes by type, and when it is paid out.",
        _schema(),
        _balance,
        "balance:read",
    ),
)
