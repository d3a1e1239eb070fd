"""The next money that goes to a merchant's bank."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from payments import clock
from payments.admin.framework.formats import money
from payments.domain.payouts.make import payable, reserve_of
from payments.domain.payouts.schedules import account_in_effect
from payments.models import Merchant, Payout, PayoutAccount, PayoutSchedule


@dataclass(frozen=True, slots=True)
class NextPayout:
    """Money on its way to the merchant's bank, or what a schedule pays next as far as it is known now.

    `at` is None where somebody has to ask for it.
    """

    amount: int
    reserve: int
    currency: str
    account: PayoutAccount | None
    at: datetime | None
    payout: Payout | None = None

    @property
    def sums(self) -> list[tuple[str, str, bool]]:
        """Return the lines of what is paid: a word, an amount, and whether it is the total; none without a reserve."""
        parts = (
            [(_("Balance"), self.amount + self.reserve), (_("Kept in reserve"), -self.reserve)] if self.reserve else []
        )
        rows = [*parts, (_("To your bank"), self.amount)] if parts else []
        return [(word, money(amount, self.currency), word == rows[-1][0]) for word, amount in rows]

    @property
    def total(self) -> str:
        return money(self.amount, self.currency) if self.amount else _("Nothing yet")


def next_payout(merchant: Merchant, livemode: bool) -> NextPayout | None:
    """Return the newest payout under way, or else the next one of the schedule."""
    under_way = Payout.objects.of(merchant.pk, livemode).filter(status__in=Payout.UNDER_WAY)
    if payout := under_way.select_related("account").order_by("-id").first():
        return NextPayout(payout.amount, payout.reserve, payout.currency, payout.account, payout.sent_at, payout)
    own = PayoutSchedule.objects.of(merchant.pk, livemode).filter(next_at__isnull=False)
    schedule = own.order_by("next_at").first()
    return planned(schedule) if schedule else None


def planned(schedule: PayoutSchedule) -> NextPayout:
    """Return the schedule's next payout: what has been settled so far and is payable by then, less the reserve."""
    at = max(schedule.next_at or clock.now(), clock.now())
    whole = max(0, payable(schedule, at))
    reserve = reserve_of(schedule, whole)
    return NextPayout(whole - reserve, reserve, schedule.currency, account_in_effect(schedule, at), schedule.next_at)
