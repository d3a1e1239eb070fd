"""How a merchant stands: what is still missing before it can take live payments, and how its payments go."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.db.models import Q, Sum
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from payments import clock
from payments.admin.framework.formats import chip, lines, money
from payments.admin.merchants.fees import types_without_fee
from payments.domain.merchants.merchants import MODES
from payments.models import ApiKey, Charge, DayTotal, Merchant, Route, Webhook
from payments.models.books.day_total import SESSION
from payments.overview import dispute_rates
from payments.rendering.brand import own_branding

PERIOD_DAYS = 30
# So many of the newest webhooks are looked at.
NEWEST = 20
# With what the networks compare the disputes of a month.
COMPARED = ("of the month", "of the month before")
Outcome = DayTotal.Outcome
ISSUE_LIVE_KEY = "Issue a secret live key: an administrator other than you approves it"


def checklist(merchant: Merchant) -> SafeString:
    """Return the steps to live payments, each with a mark where it is done."""
    steps = ((("done", "✓") if is_done else ("open", "○"), text) for is_done, text in _steps(merchant))
    items = format_html_join(
        "", '<li class="{}"><span aria-hidden="true">{}</span> {}</li>', ((*mark, text) for mark, text in steps)
    )
    return format_html('<ul class="checklist">{}</ul>', items)


def _steps(merchant: Merchant) -> Iterator[tuple[bool, str]]:
    """Yield whether each step is done, and how it reads then or as a task."""
    paid = Charge.objects.filter(merchant=merchant, status__in=("succeeded", "refunded"))
    taken = {livemode: paid.filter(livemode=livemode).exists() for livemode in MODES.values()}
    keys = {livemode: _has_key(merchant, livemode) for livemode in MODES.values()}
    costs_nothing = types_without_fee(merchant)
    unpriced = f"No fee is set for {', '.join(costs_nothing)}: they cost nothing"
    routed = Route.objects.filter(account__merchant=merchant, account__enabled=True, enabled=True).exists()
    answered, branded = _has_answered(merchant), any(own_branding(merchant).values())
    yield keys[False], "A secret test key works" if keys[False] else "Issue a secret test key"
    yield taken[False], "A test payment succeeded" if taken[False] else "Have the merchant make a test payment"
    yield answered, "A webhook was answered" if answered else "Have the merchant answer a webhook"
    yield branded, "Pages of payers have its brand" if branded else "Give the pages of payers its brand"
    yield not costs_nothing, unpriced if costs_nothing else "Every type has a fee"
    yield routed, "A provider takes its live payments" if routed else "Add a provider account and a route"
    yield keys[True], "A secret live key works" if keys[True] else ISSUE_LIVE_KEY
    yield taken[True], "A live payment succeeded" if taken[True] else "Wait for the first live payment"


def _has_key(merchant: Merchant, livemode: bool) -> bool:
    works = Q(expires_at=None) | Q(expires_at__gt=clock.now())
    keys = ApiKey.objects.filter(works, merchant=merchant, livemode=livemode, revoked_at=None)
    return keys.exclude(kind=ApiKey.Kind.PUBLISHABLE).exists()


def _has_answered(merchant: Merchant) -> bool:
    """Return whether one of the merchant's newest webhooks of either mode was answered."""
    own = (Webhook.objects.filter(merchant=merchant, livemode=livemode) for livemode in MODES.values())
    newest = (rows.order_by("-id").values_list("state", flat=True)[:NEWEST] for rows in own)
    return any(Webhook.State.DELIVERED in states for states in newest)


def health(merchant: Merchant) -> SafeString | str:
    """Return the volume and the outcomes of the last days, by mode and currency, from the totals of days."""
    since = clock.now().date() - timedelta(days=PERIOD_DAYS)
    totals = DayTotal.objects.filter(merchant=merchant, day__gte=since).exclude(source_type=SESSION)
    found: dict[tuple[bool, str], dict[str, Any]] = {}
    for each in totals.values("livemode", "currency", "outcome").annotate(charges=Sum("count"), volume=Sum("amount")):
        by_outcome = found.setdefault((each["livemode"], each["currency"]), {})
        by_outcome[each["outcome"]] = each
    return lines(_line(*key, by_outcome) for key, by_outcome in sorted(found.items(), reverse=True))


def _line(livemode: bool, currency: str, found: dict[str, Any]) -> str:
    counts = {outcome: found.get(outcome, {}).get("charges", 0) for outcome in Outcome}
    volume = found.get(Outcome.APPROVED, {}).get("volume", 0)
    ended = counts[Outcome.APPROVED] + counts[Outcome.DECLINED]
    share = f"{counts[Outcome.APPROVED] / ended:.0%} approved, " if ended else ""
    mode = "live" if livemode else "test"
    return (
        f"{mode}: {money(volume, currency)} in {counts[Outcome.APPROVED]:,} charges; {share}"
        f"{counts[Outcome.DECLINED]:,} declined, {counts[Outcome.ABANDONED]:,} abandoned"
    )


def dispute_lines(merchant: Merchant) -> SafeString | str:
    """Return the dispute rates of the last months with disputes, by mode, as the card networks count them."""
    return lines(
        _month_line(mode, month)
        for mode, livemode in reversed(MODES.items())
        for month in dispute_rates.months_of(merchant.id, livemode)
    )


def _month_line(mode: str, month: dispute_rates.Month) -> SafeString:
    amounts = ", ".join(money(amount, currency) for currency, amount in sorted(month.disputes.amounts.items()))
    text = f"{mode}, {month.first:%B %Y}: {month.disputes.count:,}, {amounts}"
    for rate, volume, when in zip(month.rates, (month.charges, month.charges_before), COMPARED, strict=True):
        text += "" if rate is None else f"; {rate / 100:.2f} % of {volume.count:,} charges {when}"
    return format_html("{} {}", text, chip("high", "bad")) if month.is_high else format_html("{}", text)
