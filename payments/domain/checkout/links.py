"""Payment links: made by a program once, and paid by any number of payers while there is something left."""

import secrets
import string
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from operator import gt
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from payments import clock
from payments.db.writes import Insert, StaleRow, execute_writes, execute_writes_in_savepoint
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.catalogue.error_table import INVALID_CHOICE, LINK_NOT_ACTIVATABLE, TOTAL_OUT_OF_RANGE
from payments.domain.catalogue.event_types import LINK_CREATED
from payments.domain.charging.checkouts import checkout_progress, link_stock
from payments.domain.checkout import availability
from payments.domain.checkout.sessions import OK
from payments.domain.risk.addresses import counted
from payments.domain.shared import events, idempotency
from payments.domain.shared.caller import Caller
from payments.domain.shared.errors import conflict, invalid
from payments.domain.shared.finder import Finder
from payments.domain.shared.idempotency import Result, StoredAnswer
from payments.models import AMOUNT_MAX, Checkout, Merchant, PaymentLink
from payments.models.checkout.payment_link import SHORT_LENGTH
from payments.rendering.objects.checkout import total_of
from payments.rendering.objects.payment_links import link_url
from payments.sweeps.in_turn import each_in_turn
from payments.sweeps.scope import ALL_MERCHANTS, Scope

Render = Callable[[PaymentLink], StoredAnswer]
LETTERS = string.digits + string.ascii_letters
# So long is kept what a payer is buying.
PAYMENT_LIFE = timedelta(minutes=30)
# So many unpaid payments of one merchant's links are kept for one address: nobody can reserve stock without end,
# and the people behind one address, such as the guests of a shop, can each buy.
RESERVATIONS_MAX = 20
# The members of an order by which a provider can take it or not.
TAKEN = ("line_items", "currency", "payment_method_types", "allow_adjustable_quantity")
# What the page of a payment has from the order of its link.
SHARED = (
    *("currency", "payment_method_types", "branding", "metadata", "require_auth", "shipping_address_collection"),
    *("phone_number_collection", "description"),
)


def create(
    caller: Caller, merchant: Merchant, order: Mapping[str, Any], render: Render, *, short: str = ""
) -> Result[PaymentLink]:
    """Create a link of `merchant` from a validated request body. `render` makes the answer that is stored with it.

    Its address ends with `short`, by default at random. Raise PaymentError `source_type_unavailable` where a way to pay
    is switched off, or no provider takes it.
    """
    availability.require_types(caller, order["payment_method_types"])
    _require_taken(caller, order)
    link = new_link(caller, merchant, order)
    link.short = short or "".join(secrets.choice(LETTERS) for _ in range(SHORT_LENGTH))
    link.is_full = link.is_sold_out or link.is_at_maximum
    link.active = not link_stock.is_over(link, is_under_way=False)
    answer = render(link)
    created = events.of(caller, LINK_CREATED, link)
    idempotency.write_once(caller, idempotency.new_record(caller, answer), Insert(link), *created)
    return Result(link, answer)


def _require_taken(caller: Caller, order: Mapping[str, Any]) -> None:
    """Raise PaymentError `not_available` where no provider can take any payment of a link with this order."""
    items = order["line_items"]
    prices = [item["amount"] for item in items]
    if order["allow_adjustable_quantity"]:
        least = min(filter(None, prices), default=0)
        amounts = (least, max(least, min(total_of(items), AMOUNT_MAX)))
    else:
        amounts = (sum(prices), sum(prices))
    availability.require_taken(caller, order["payment_method_types"], order["currency"].upper(), amounts)


def new_link(caller: Caller, merchant: Merchant, order: Mapping[str, Any]) -> PaymentLink:
    """Return the link that `create` saves, still without its address."""
    columns, moment = _columns({}, order, is_new=True), clock.now()
    return PaymentLink(merchant=merchant, livemode=caller.livemode, created_at=moment, updated_at=moment, **columns)


find = Finder("plink", lambda *owner: PaymentLink.objects.of(*owner).whole())


def change(caller: Caller, text: str, given: Mapping[str, Any], render: Render) -> Result[PaymentLink]:
    """Have the members that are `given` replace those of a link. Payments under way keep what was bought.

    Raise PaymentError as `find` and `create` do.
    """

    def values(link: PaymentLink, _: bool) -> dict[str, Any]:
        availability.require_types(caller, given.get("payment_method_types", []))
        if not given.keys().isdisjoint(TAKEN):
            _require_taken(caller, {**link.order, **given})
        renewed = {"edition": link.edition + 1} if "line_items" in given else {}
        return _columns(link.order, given) | renewed

    return _change(caller, text, values, render)


def set_active(caller: Caller, text: str, is_active: bool, render: Render) -> Result[PaymentLink]:
    """Activate or deactivate a link; one that is so already stays. Raise PaymentError `link_not_activatable` for one
    that is over.
    """

    def values(link: PaymentLink, is_under_way: bool) -> dict[str, Any]:
        if is_active and link_stock.is_over(link, is_under_way=is_under_way):
            raise conflict(LINK_NOT_ACTIVATABLE)
        return {"active": is_active}

    return _change(caller, text, values, render)


def set_active_for_operator(link: PaymentLink, *, is_active: bool) -> None:
    """Activate or deactivate a link for an operator, whose action is recorded. Raise PaymentError as `set_active`."""
    caller = Caller(link.merchant_id, link.livemode)
    with transaction.atomic():
        set_active(caller, str(link), is_active, lambda _: StoredAnswer(OK, b""))
        audit_log.record(Action.CHANGED, link, fields=["active"])


def _change(
    caller: Caller, text: str, values: Callable[[PaymentLink, bool], dict[str, Any]], render: Render
) -> Result[PaymentLink]:
    """Give a link what `values` returns of it and of whether a payment is under way."""
    found = find(caller, text)
    with transaction.atomic():
        link = _locked(found)
        under_way = link_stock.is_under_way(link)
        writes = link_stock.change(caller, link, values(link, under_way), is_under_way=under_way)
        answer = render(link)
        if writes:
            idempotency.write_once(caller, idempotency.new_record(caller, answer), *writes)
        else:
            idempotency.store_answer(caller, answer)
    return Result(link, answer)


def _locked(link: PaymentLink) -> PaymentLink:
    """Return a link as it is now, locked until the transaction ends: many payers wait for their turn here."""
    rows = PaymentLink.objects.whole().select_for_update(no_key=True, of=("self",))
    return rows.get(id=link.id, merchant_id=link.merchant_id)


def _columns(order: Mapping[str, Any], given: Mapping[str, Any], *, is_new: bool = False) -> dict[str, Any]:
    """Return the columns of a link with this `order` whose members those `given` replace."""
    members = {name: value for name, value in given.items() if name != "internal_name"}
    columns: dict[str, Any] = {name: given[name] for name in ("internal_name",) if name in given}
    if "line_items" in given:
        items = given["line_items"]
        stock = [_stock_of(item, is_new) for item in items]
        members["line_items"] = [{key: item[key] for key in item if key != "remaining"} for item in items]
        columns |= {"stock": stock, "remaining": stock}
    if "expiry" in given:
        columns["ends_at"] = end_of_day(given["expiry"]) if given["expiry"] else None
    return columns | {"order": {name: value for name, value in {**order, **members}.items() if value is not None}}


def _stock_of(item: Mapping[str, Any], is_new: bool) -> int:
    """Return how many of an item there are to sell: of a new link, `remaining` 0 says nothing."""
    left = item.get("remaining")
    return int(item["quantity"] if left is None or (is_new and not left) else left)


def end_of_day(text: str) -> datetime:
    """Return the end of a day, `MM/DD/YYYY` in DISPLAY_TIME_ZONE. Raise ValueError where there is no such day."""
    try:
        month, day, year = map(int, text.split("/"))
        following = date(year, month, day) + timedelta(days=1)
    except OverflowError as error:
        raise ValueError(text) from error
    return datetime.combine(following, time(), ZoneInfo(settings.DISPLAY_TIME_ZONE)).astimezone(UTC)


def link_of_page(short: str) -> PaymentLink | None:
    """Return the link whose page has this short name, with its merchant; None without one."""
    return PaymentLink.objects.whole().filter(short=short).first()


def payment_of_visit(link: PaymentLink, visit: UUID) -> Checkout | None:
    """Return the payment of a link that a `visit` of its page has opened, None where it has opened none."""
    return Checkout.objects.filter(id=visit, merchant_id=link.merchant_id, link_id=link.id).first()


def show_returned(link: PaymentLink, payment: Checkout) -> None:
    """Have a link in memory show what `payment` keeps as if it was left."""
    vars(link).update(link_stock.given_back(link, payment))
    link.is_full = link.is_sold_out or link.is_at_maximum


def open_payment(link: PaymentLink, quantities: list[int], visit: UUID | None = None, address: str = "") -> Checkout:
    """Keep `quantities` of the items of a link for a payer at `address`, and return the payment, whose page they go to.

    A `visit` of the link's page has one payment under way, whose ID is its own: chosen again, it is the same payment,
    and with other quantities it is given back first. Raise PaymentError `link_not_payable` where the link takes no
    payments, `link_out_of_stock` where less is left, `too_many_reservations` where the address has RESERVATIONS_MAX
    unpaid ones, and for quantities that cannot be bought.
    """
    with transaction.atomic():
        if visit:
            # The row of the payment before its link's, as everything that ends a payment.
            list(Checkout.objects.select_for_update(no_key=True).filter(id=visit, merchant_id=link.merchant_id))
        link = _locked(link)
        own = payment_of_visit(link, visit) if visit else None
        if own and own.state in link_stock.UNDER_WAY:
            if _is_chosen_again(own, link, quantities) or not _give_back(own):
                return own
            link = _locked(link)
        _require_payable(link, quantities)
        _require_few_reservations(link, counted(address))
        payment = _new_payment(link, quantities)
        payment.id = visit if visit and own is None else payment.id
        payment.reserved_by = counted(address)
        if not 1 <= payment.amount <= AMOUNT_MAX:
            raise invalid(TOTAL_OUT_OF_RANGE, "quantities", "This total cannot be paid at once.")
        caller, total = Caller(link.merchant_id, link.livemode), (payment.amount, payment.amount)
        availability.require_taken(caller, link.order["payment_method_types"], payment.currency, total)
        writes = link_stock.change(caller, link, link_stock.taken(link, quantities), is_under_way=True)
        execute_writes(*writes, Insert(payment))
    payment.charge_list = []
    return payment


def _is_chosen_again(own: Checkout, link: PaymentLink, quantities: list[int]) -> bool:
    is_over = own.expires_at is not None and own.expires_at <= clock.now()
    return own.quantities == quantities and own.edition == link.edition and not is_over


def _give_back(own: Checkout) -> bool:
    """End a payment that nobody has begun to pay, and give back what it keeps; return whether it was so."""
    if own.state != Checkout.State.UNPAID:
        return False
    caller = Caller(own.merchant_id, own.livemode)
    try:
        execute_writes_in_savepoint(*checkout_progress.move(caller, own, Checkout.State.EXPIRED))
    except StaleRow:
        # It is being paid in another tab.
        return False
    return True


def is_payable(link: PaymentLink) -> bool:
    """Return whether a payer can buy of a link now."""
    return link.active and not (link.is_past or link.is_full or link.merchant.is_closed)


def _require_payable(link: PaymentLink, quantities: list[int]) -> None:
    if not is_payable(link):
        raise conflict("link_not_payable", "This link takes no payments now.")
    remaining = link.remaining
    if len(quantities) != len(remaining) or any(map(gt, quantities, remaining)):
        raise conflict("link_out_of_stock", "There are fewer left than were chosen. Choose again.")
    is_one_of_each = all(count == 1 for count in quantities)
    is_some = min(quantities) >= 0 and any(quantities)
    if not (is_some if link.order["allow_adjustable_quantity"] else is_one_of_each):
        raise invalid(INVALID_CHOICE, "quantities", "These quantities cannot be bought.")


def _require_few_reservations(link: PaymentLink, address: str) -> None:
    own = Checkout.objects.of(link.merchant_id, link.livemode).filter(link__isnull=False, reserved_by=address)
    if address and own.filter(state__in=link_stock.UNDER_WAY).count() >= RESERVATIONS_MAX:
        raise conflict("too_many_reservations", "Too many payments were begun from this network and not paid.")


def _new_payment(link: PaymentLink, quantities: list[int]) -> Checkout:
    items = link.order["line_items"]
    bought = [item | {"quantity": count} for item, count in zip(items, quantities, strict=True) if count]
    addresses = {"cancel_url": link_url(link), "success_url": link.order.get("redirect_url")}
    shared = {name: link.order[name] for name in SHARED if name in link.order}
    moment = clock.now()
    return Checkout(
        merchant=link.merchant,
        livemode=link.livemode,
        kind=Checkout.Kind.LINK,
        link_id=link.id,
        edition=link.edition,
        quantities=quantities,
        amount=total_of(bought),
        currency=link.order["currency"].upper(),
        order=shared | addresses | {"line_items": bought},
        expires_at=moment + PAYMENT_LIFE,
        created_at=moment,
        updated_at=moment,
    )


def close_due(scope: Scope = ALL_MERCHANTS) -> int:
    """Deactivate the links that are over; return how many."""
    own = {"merchant_id": OuterRef("merchant_id"), "link_id": OuterRef("id")}
    is_under_way = Exists(Checkout.objects.filter(**own, state__in=link_stock.UNDER_WAY))
    due = Q(ends_at__lte=clock.now()) | Q(is_full=True) & ~Q(is_under_way)
    return each_in_turn(PaymentLink.objects.whole().filter(due, scope.within(), active=True), "id", _close_one)


def _close_one(link: PaymentLink) -> bool:
    caller, under_way = Caller(link.merchant_id, link.livemode), link_stock.is_under_way(link)
    writes = link_stock.change(caller, link, {}, is_under_way=under_way)
    if writes:
        execute_writes(*writes)
    return bool(writes)
