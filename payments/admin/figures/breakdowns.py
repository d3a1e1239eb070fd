"""Tables of charges and checkout sessions: by day or hour, by merchant, method and provider."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from payments import sourcetypes
from payments.admin.figures.charts import OUTCOMES, Axis, ended
from payments.admin.figures.comparisons import OF_CHANGE, compared
from payments.admin.framework.formats import money
from payments.models import Merchant
from payments.overview.trade import Outcome, Share, Trade

# The largest merchants and types have a row each, all others one together.
PARTS_COUNT = 10
MAY_LOOK = "payments.view_charge"
OF_CHARGES = (*(meaning.label for meaning in OUTCOMES.values()), _("Approval rate"))
OF_SESSIONS = (
    _("Merchant"),
    _("Opened"),
    _("Paid"),
    _("Abandoned"),
    pgettext_lazy("figure", "Open"),
    _("Paid of ended"),
)
OF_TRIES = (_("Try"), _("Collected"), _("Requests"), _("Of all"))


@dataclass(frozen=True, slots=True)
class Part:
    """A row: the address of its list ("" for none), an amount or number, what it was before, counts, and a rate."""

    label: str
    address: str
    sum: str
    change: str | None
    counts: Sequence[tuple[str, str]]
    rate: str
    is_total: bool = False


@dataclass(frozen=True, slots=True)
class Breakdown:
    """A table: its title, the heads of its columns, and its rows."""

    title: str
    heads: Sequence[Any]
    parts: Sequence[Part]


@dataclass(frozen=True, slots=True)
class Dimension:
    """What charges are broken down by: its label, the shares of a trade, their labels, and the filter of the list.

    It is for those who have its permission.
    """

    label: Any
    shares_of: Callable[[Trade], Mapping[Any, Share]]
    labels_of: Callable[[Sequence[Any]], Mapping[Any, str]]
    filter: str = ""
    permission: str = MAY_LOOK


def _merchants(keys: Sequence[UUID]) -> Mapping[UUID, str]:
    return {key: merchant.title for key, merchant in Merchant.objects.in_bulk(keys).items()}


def _methods(keys: Sequence[str]) -> Mapping[str, str]:
    return {key: sourcetypes.shown(key).label for key in keys}


def _providers(keys: Sequence[str]) -> Mapping[str, str]:
    return {key: key.capitalize() or "None" for key in keys}


DIMENSIONS: Mapping[str, Dimension] = {
    "merchant": Dimension(_("Merchant"), attrgetter("by_merchant"), _merchants, "merchant"),
    "method": Dimension(_("Method"), attrgetter("by_type"), _methods, "type"),
    "provider": Dimension(_("Provider"), attrgetter("by_provider"), _providers, permission="payments.view_attempt"),
}


def by_time(shares: Mapping[Any, Share], axis: Axis, currency: str) -> Breakdown:
    """Return the shares of the days or hours in which charges ended, newest first."""
    newest_first = reversed(list(shares.items()))
    parts = [_part(axis.long(moment), share, currency) for moment, share in newest_first if ended(share)]
    return Breakdown(_by(axis.heading), (axis.heading, _("Volume"), *OF_CHARGES), parts)


def by_dimension(name: str, trade: Trade, before: Trade, currency: str) -> Breakdown:
    """Return the largest parts of `trade`, with a link to their charges, one of all others, and the whole."""
    dimension = DIMENSIONS[name]
    parts = list(_parts(dimension, dimension.shares_of(trade), dimension.shares_of(before), currency))
    if len(parts) > 1:
        parts.append(_part(gettext("All"), trade.total, currency, _change(trade.total, before.total), is_total=True))
    return Breakdown(
        _by(dimension.label), (dimension.label, _("Volume"), pgettext_lazy("figure", "Change"), *OF_CHARGES), parts
    )


def _by(heading: Any) -> str:
    return gettext("By {what}").format(what=heading.lower())


def _others(count: int) -> str:
    return gettext("{count} others").format(count=f"{count:,}")


def _parts(
    dimension: Dimension, shares: Mapping[Any, Share], before: Mapping[Any, Share], currency: str
) -> Iterator[Part]:
    largest = sorted(shares, key=lambda key: shares[key].volume, reverse=True)[:PARTS_COUNT]
    labels, charges = dimension.labels_of(largest), reverse("admin:payments_charge_changelist")
    for key in largest:
        address = f"{charges}?{dimension.filter}={key}" if dimension.filter else ""
        yield _part(labels[key], shares[key], currency, _change(shares[key], before.get(key, Share())), address)
    others = shares.keys() - largest
    if others:
        share = Share().add_all(shares[key] for key in others)
        share_before = Share().add_all(before[key] for key in before.keys() - largest)
        yield _part(_others(len(others)), share, currency, _change(share, share_before))


def _change(share: Share, before: Share) -> str:
    return compared(share.volume, before.volume, OF_CHANGE)


def _part(
    label: str, share: Share, currency: str, change: str | None = None, address: str = "", *, is_total: bool = False
) -> Part:
    counts = [(meaning.label.lower(), f"{share.counts[outcome]:,}") for outcome, meaning in OUTCOMES.items()]
    rate = share.approval_rate
    shown_rate = "" if rate is None else f"{rate:.1%}"
    return Part(label, address, money(share.volume, currency), change, counts, shown_rate, is_total)


def by_tries(found: Sequence[tuple[int, int, int]], currency: str) -> Breakdown:
    """Return what requests have collected by themselves, by the number of the try."""
    in_all, parts = sum(count for _, count, _ in found), list[Part]()
    for number, count, amount in found:
        counts = [(gettext("requests"), f"{count:,}")]
        parts.append(Part(f"{number}.", "", money(amount, currency), None, counts, f"{count / in_all:.1%}"))
    return Breakdown(gettext("Collected by requests themselves"), OF_TRIES, parts)


def by_sessions(found: Mapping[UUID, Counter[str]]) -> Breakdown:
    """Return the checkout sessions of each merchant, with a link to them, and of all."""
    return Breakdown(gettext("Checkout sessions"), OF_SESSIONS, list(_of_sessions(found)))


def _of_sessions(found: Mapping[UUID, Counter[str]]) -> Iterator[Part]:
    address = f"{reverse('admin:payments_checkout_changelist')}?kind=session"
    largest = sorted(found, key=lambda key: found[key].total(), reverse=True)[:PARTS_COUNT]
    titles = _merchants(largest)
    for key in largest:
        # The list of a merchant's own people has no filter by merchant.
        of_one = f"&merchant={key}" if len(found) > 1 else ""
        yield _session_part(titles[key], address + of_one, [found[key]])
    if others := [counts for key, counts in found.items() if key not in titles]:
        yield _session_part(_others(len(others)), "", others)
    if len(found) > 1:
        yield _session_part(gettext("All"), address, found.values(), is_total=True)


def _session_part(label: str, address: str, found: Iterable[Counter[str]], *, is_total: bool = False) -> Part:
    counts = sum(found, Counter[str]())
    paid, left, still_open = (counts[each] for each in (Outcome.APPROVED, Outcome.ABANDONED, Outcome.PENDING))
    numbers = [
        (gettext("paid"), f"{paid:,}"),
        (gettext("abandoned"), f"{left:,}"),
        (gettext("open"), f"{still_open:,}"),
    ]
    rate = f"{paid / (paid + left):.1%}" if paid or left else ""
    return Part(label, address, f"{counts.total():,}", None, numbers, rate, is_total)
