"""One way to break each invariant of disputes."""

from django.db.models import F

from payments.ids import public_id
from payments.models import Dispute, Posting
from payments.providers.simulator.models import SimulatedPayment
from tests.invariants.breakages import breaks
from tests.invariants.forgery import forge, forge_charge, post
from tests.invariants.history import History

Account, Kind = Posting.Account, Posting.Kind


def dispute_of(history: History, name: str) -> Dispute:
    return Dispute.objects.get(charge=history.charge(name))


@breaks("disputes_add_up", "ledger_disputed", "ledger_owes_the_merchant", "simulator_disputes_agree")
def disputed_by_no_dispute(history: History) -> str:
    return forge_charge(history, "dispute won in part", amount_disputed=F("amount_disputed") + 1)


@breaks("disputes_hold_what_was_reported", "disputes_add_up")
def taken_beyond_what_was_reported(history: History) -> str:
    dispute = dispute_of(history, "dispute won in part")
    forge(dispute, amount_withdrawn=F("amount_withdrawn") + 10_000)
    return public_id("dp", dispute.id)


@breaks("disputes_match_their_charge")
def dispute_in_another_currency(history: History) -> str:
    dispute = dispute_of(history, "disputed")
    forge(dispute, currency="USD")
    return public_id("dp", dispute.id)


@breaks("disputes_have_their_events")
def dispute_changed_without_event(history: History) -> str:
    dispute = dispute_of(history, "disputed")
    forge(dispute, version=F("version") + 1)
    return public_id("dp", dispute.id)


@breaks("ledger_disputed", "ledger_owes_the_merchant")
def taken_by_the_bank_again(history: History) -> str:
    lines = ((Account.MERCHANT_PENDING, 1), (Account.PROVIDER_RECEIVABLE, -1))
    return post(history.charge("disputed"), Kind.DISPUTE, *lines)


@breaks("simulator_disputes_agree", "simulator_entries_add_up")
def taken_at_the_simulator_alone(history: History) -> str:
    SimulatedPayment.objects.filter(pk=history.payment("captured").pk).update(amount_disputed=1)
    return history.charges["captured"]["id"]
