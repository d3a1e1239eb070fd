"""The next money that goes to a merchant's bank."""

from dataclasses import dataclass
from datetime import datetime

from payments.admin.framework.formats import money
from payments.domain.payouts.make import payable
from payments.domain.payouts.schedules import account_in_effect
from payments.models import Merchant, Payout, PayoutAccount, PayoutSchedule


@dataclass(frozen=True, slots=True)
class NextPayout:
    """Money on its way to the merchant's bank, or what the schedule pays next of what is known now."""

    amount: int
    reserve: int
    currency: str
    account: PayoutAccount | None
    at: datetime | None
    payout: Payout | None = None

    @property
    def sums(self) -> list[tuple[str, str, bool]]:
        """Return the lines of what is paid: a word, an amount, and whether it is the total; none without a reserve."""
        parts = [("Balance", self.amount + self.reserve), ("Kept in reserve", -self.reserve)] if self.reserve else []
        rows = [*parts, ("To your bank", self.amount)] if parts else []
        return [(word, money(amount, self.currency), word == "To your bank") for word, amount in rows]

    @property
    def total(self) -> str:
        return money(self.amount, self.currency)


def next_payout(merchant: Merchant, livemode: bool) -> NextPayout | None:
    """Return the newest payout under way, or else the next one of the schedule."""
    under_way = Payout.objects.of(merchant.pk, livemode).filter(status__in=Payout.UNDER_WAY)
    if payout := under_way.select_related("account").order_by("-id").first():
        return NextPayout(payout.amount, payout.reserve, payout.currency, payout.account, payout.sent_at, payout)
    own = PayoutSchedule.objects.of(merchant.pk, livemode).filter(next_at__isnull=False)
    if not (schedule := own.order_by("next_at").first()) or not schedule.next_at:
        return None
    whole = max(0, payable(schedule, schedule.next_at))
    reserve = whole * schedule.reserve_percent // 100
    account = account_in_effect(schedule, schedule.next_at)
    return NextPayout(whole - reserve, reserve, schedule.currency, account, schedule.next_at)
