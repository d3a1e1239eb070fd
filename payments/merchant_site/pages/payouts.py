"""Payouts and what each is made of, the bank account that they go to, and when they are made."""

from collections.abc import Iterator
from typing import Any, ClassVar
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments.admin.framework.formats import beside, column, link, money, short_id
from payments.admin.lists.mode import MODES, mode_of
from payments.admin.payouts.accounts import PayoutAccountAdmin, SetPayoutAccount, WithdrawPayoutAccount
from payments.admin.payouts.payouts import PayoutAdmin
from payments.admin.payouts.schedules import PayoutScheduleAdmin
from payments.admin.shown_times import moment_in_list, moment_text
from payments.domain.statements.statement import WORDS
from payments.domain.statements.summary import content_of
from payments.inbox.decisions import OF_MERCHANTS
from payments.ledger.balances import Balance, balances_of
from payments.ledger.transactions import find_in_parts, of_parts
from payments.merchant_site.next_payout import planned
from payments.merchant_site.policy import on_merchant_site
from payments.merchant_site.site import merchant_of, merchant_site
from payments.models import ApprovalRequest, Charge, Payout, PayoutAccount, PayoutSchedule, Posting
from payments.money import shown_amount

SHOWN_PARTS = 100
BEING_LOOKED_UP = _("It is being looked up with the bank.")
AGAIN = _("Your balance has the money again, and the next payout takes it.")
Status = Payout.Status
NOTICE = _(
    "Live payouts go to this account, so another owner or kaha's staff must approve it. It takes effect 24 hours after "
    "that, and can be withdrawn until then."
)


def what_happens(payout: Payout) -> str:
    """Return in words how far the payout is."""
    if payout.status in Payout.UNDER_WAY and payout.asked_at and payout.why:
        return str(BEING_LOOKED_UP)
    match payout.status:
        case Status.PENDING:
            if payout.livemode and not payout.approved_at:
                return gettext("kaha's staff checks it. Then it is sent to the bank.")
            return gettext("It is sent to the bank.")
        case Status.IN_TRANSIT:
            return gettext("On its way to the bank since {when}.").format(when=moment_text(payout.sent_at))
        case Status.PAID:
            return gettext("It left for your account {when}.").format(when=moment_text(payout.paid_at))
        case Status.FAILED:
            return f"{gettext('A bank refused or returned it.')} {AGAIN}"
        case Status.CANCELLED:
            return f"{gettext('It was never sent.')} {AGAIN}"
        case unknown:
            raise ValueError(unknown)


def _amounts(balance: Balance, currency: str) -> Iterator[tuple[str, str, str]]:
    """Yield each part of a balance: its name, amount and meaning."""
    for name, amount, meaning in (
        (gettext("Available"), balance.available, gettext("settled, for the next payout")),
        (gettext("Pending"), balance.pending, gettext("captured, settled after the end of the day (UTC)")),
        (gettext("On its way"), balance.on_its_way, gettext("in payouts that are not paid yet")),
        (gettext("Reserved"), balance.reserved, gettext("kept of payouts for some days")),
        (gettext("Held"), balance.held, gettext("of holds; not yours before you capture them")),
    ):
        yield name, shown_amount(amount, currency), meaning


@on_merchant_site(Payout)
class MerchantPayouts(PayoutAdmin):
    """Payouts; who may not see bank accounts sees nothing of theirs here either."""

    for_merchants = (
        "to_account shown_amount shown_status shown_reserve paid how_far failure_code reserve_due sent ended leaves "
        "status currency"
    )
    change_form_template = "merchant/payout.html"
    views = {"balance": ("balance/", "balance")}
    parts: Any = ()
    list_display: Any = ("created", "to_account", "shown_amount", "shown_status", "mode")
    file_columns: Any = ("public_id", "created", "shown_amount", "shown_reserve", "shown_status", "paid", "mode")
    fieldsets: ClassVar[Any] = (
        (_("Where it is"), {"fields": ("how_far", "to_account", "failure_code", "reserve_due")}),
        (
            _("Times"),
            {"fields": ("created", "sent", "paid", "ended", "updated", "public_id", "shown_status", "mode", "leaves")},
        ),
        (_("Events"), {"fields": ("events",)}),
    )
    how_far = column(_("How far"), what_happens)

    def shown_columns(self, request: HttpRequest) -> list[str]:
        return [name for name in super().shown_columns(request) if name != "to_account" or _sees_accounts(request)]

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        groups = super().get_fieldsets(request, obj)
        hidden = () if _sees_accounts(request) else ("to_account",)
        return [(name, {"fields": [one for one in of["fields"] if one not in hidden]}) for name, of in groups]

    def balance(self, request: HttpRequest) -> HttpResponse:
        """Show the balance by currency in the chosen mode, with the next payout of each."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        of = merchant_of(request).pk, MODES[mode_of(request)]
        coming = {schedule.currency: planned(schedule) for schedule in PayoutSchedule.objects.of(*of)}
        books = [(code, list(_amounts(each, code)), coming.get(code)) for code, each in balances_of(*of).items()]
        context = merchant_site.each_context(request) | {"title": gettext("Balance"), "books": books}
        return TemplateResponse(request, "merchant/balance.html", context)

    def headline(self, row: Payout) -> str:
        return gettext("{amount} to your bank").format(amount=money(row.amount, row.currency))

    def beside_row(self, request: HttpRequest, row: Payout) -> dict[str, Any]:
        after = _after(request, row)
        postings = of_parts(row, SHOWN_PARTS + 1, after)
        content = [(line, shown_amount(line.amount, row.currency)) for line in content_of(row)]
        shown = {"content": content, "transactions": _transactions(postings[:SHOWN_PARTS]), "is_first": after is None}
        more = {"more_after": postings[SHOWN_PARTS - 1].pk if len(postings) > SHOWN_PARTS else None}
        return super().beside_row(request, row) | shown | more


def _sees_accounts(request: HttpRequest) -> bool:
    return request.user.has_perm(OF_MERCHANTS[ApprovalRequest.Kind.ADD_PAYOUT_ACCOUNT])


def _after(request: HttpRequest, payout: Payout) -> Posting | None:
    """Return the transaction of the payout that the address names; None for none, and for any other."""
    try:
        return find_in_parts(payout, UUID(request.GET["after"])) if "after" in request.GET else None
    except ValueError:
        return None


def _transactions(postings: list[Posting]) -> list[tuple[object, ...]]:
    """Return whose payment each is about and what it is, its time and its amount."""
    ids = [posting.charge_id for posting in postings]
    charges = Charge.objects.select_related("source__card").in_bulk(filter(None, ids))
    return [
        (
            beside(_about(posting, charges.get(posting.charge_id)), gettext(WORDS[posting.kind].partition(":")[0])),
            moment_in_list(posting.created_at),
            shown_amount(-posting.amount, posting.currency),
        )
        for posting in postings
    ]


def _about(posting: Posting, charge: Charge | None) -> object:
    if charge is None:
        return link(Payout, posting.payout_id, gettext("an earlier payout"))
    return link(Charge, charge.pk, charge.source.payer_name or charge.description or short_id(str(charge)))


# Another account is requested here, and approved by somebody else; when payouts are made is set by kaha's staff.
ACCOUNTS = (SetPayoutAccount(is_new=True, for_merchants=True, approved_by=NOTICE), WithdrawPayoutAccount())
on_merchant_site(PayoutAccount, row_actions=ACCOUNTS)(PayoutAccountAdmin)


@on_merchant_site(PayoutSchedule)
class MerchantPayoutSchedules(PayoutScheduleAdmin):
    for_merchants = "interval shown_payable next delay_days reserve currency account reserve_percent reserve_days"
    list_display: Any = ("interval", "shown_payable", "next", "delay_days", "reserve", "mode")

    def headline(self, row: PayoutSchedule) -> str:
        words = gettext("{interval} payouts in {currency}")
        return words.format(interval=row.get_interval_display(), currency=row.currency)
