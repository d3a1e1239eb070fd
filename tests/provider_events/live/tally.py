"""What came of charges whose provider could hardly be reached, by kaha's word and by the provider's books."""

from collections import Counter
from dataclasses import dataclass, field

from payments.models import Attempt, Charge, ProviderAccount, ProviderEvent
from tests.provider_events.live.world import World
from tests.providers.bench import Money

State = ProviderEvent.State


@dataclass
class Tally:
    """Counts of what was done, and of what should not have come of it.

    `double` where more has moved at the provider than kaha says, `lost` where less; `unresolved` is what has no end,
    `contradicted` what webhooks reported that contradicts kaha, `answers` requests that were
    answered in another way than the contract has it.
    """

    done: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)

    def __iadd__(self, other: "Tally") -> "Tally":
        self.done += other.done
        self.wrong += other.wrong
        return self


def judged(world: World) -> Counter[str]:
    """Count what is wrong with the charges of the world's account, by kind."""
    wrong = Counter[str]()
    for charge in Charge.objects.filter(merchant_id=world.account.merchant_id, livemode=True):
        there, here = _moved(world, charge), _expected(charge)
        wrong["double"] += any(theirs > ours for theirs, ours in zip(there, here, strict=True))
        wrong["lost"] += any(theirs < ours for theirs, ours in zip(there, here, strict=True))
        wrong["unresolved"] += charge.status == Charge.Status.PENDING
    wrong["unresolved"] += open_attempts(world.account) + waiting_reports(world.account)
    events = ProviderEvent.objects.filter(account=world.account, state=State.NEEDS_ATTENTION)
    wrong["contradicted"] += events.count()
    return +wrong


def open_attempts(account: ProviderAccount) -> int:
    """How many attempts have no end, or will be looked up again all the same."""
    return Attempt.objects.filter(account=account, due_at__isnull=False).count()


def waiting_reports(account: ProviderAccount) -> int:
    """How many events are still to be applied."""
    return ProviderEvent.objects.filter(account=account, due_at__isnull=False).count()


def _moved(world: World, charge: Charge) -> tuple[int, int]:
    """Return the held and the captured amount by the provider's books."""
    attempts = Attempt.objects.filter(charge=charge, kind=Attempt.Kind.AUTHORIZE)
    booked = [world.bench.money(world.payment_of(attempt)) for attempt in attempts]
    total = Money(*(sum(getattr(each, name) for each in booked) for name in ("held", "taken", "returned")))
    return total.held, total.taken - total.returned


def _expected(charge: Charge) -> tuple[int, int]:
    """Return the same amounts by the charge."""
    is_undone = charge.status == Charge.Status.VOIDED
    return charge.amount * charge.authorized, 0 if is_undone else charge.amount_captured - charge.amount_refunded
