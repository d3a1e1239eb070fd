"""One way to break each invariant of payouts."""

from django.db.models import F

from payments.ids import new_id, public_id
from payments.models import PayoutAccount, PayoutFile, PayoutPart, Posting
from payments.providers.simulator.models import SimulatedPayout
from tests.factories import MerchantFactory
from tests.invariants.breakages import breaks
from tests.invariants.forgery import forge, post, post_for
from tests.invariants.history import History
from tests.operators.factories import person

Account, Kind = Posting.Account, Posting.Kind


def forge_payout(history: History, name: str, **values: object) -> str:
    payout = history.payouts[name]
    forge(payout, **values)
    return public_id("po", payout.id)


def part_of(history: History, name: str) -> PayoutPart:
    return PayoutPart.objects.filter(payout=history.payouts[name])[0]


@breaks("payouts_are_their_parts", "payout_lines_add_up")
def part_of_no_settlement(history: History) -> str:
    payout = history.payouts["paid"]
    common = {"merchant": payout.merchant, "livemode": False, "currency": "PHP", "is_settlement": True}
    PayoutPart.objects.create(id=new_id(), payout=payout, amount=0, payable_at=payout.created_at, **common)
    forge(part_of(history, "pending"), payout=None)
    return public_id("po", history.payouts["pending"].id)


@breaks("payout_parts_are_what_is_owed", "payouts_are_their_parts")
def part_of_more_than_is_owed(history: History) -> str:
    forge(part_of(history, "paid"), amount=F("amount") + 1)
    return public_id("po", history.payouts["paid"].id)


@breaks("payout_lines_add_up", "ledger_owes_the_merchant", "ledger_disputed", "settled_charges_leave_nothing")
def pending_after_settlement(history: History) -> str:
    lines = ((Account.MERCHANT_PENDING, 1), (Account.PROVIDER_RECEIVABLE, -1))
    post(history.charge("settled before paid"), Kind.DISPUTE, *lines)
    return public_id("po", history.payouts["paid"].id)


@breaks("balances_are_paid_out_once", "payouts_are_their_parts", "payout_lines_add_up")
def part_that_is_missing(history: History) -> str:
    payout = history.payouts["pending"]
    part_of(history, "pending").delete()
    return public_id("mer", payout.merchant_id)


@breaks("payouts_match_their_parts")
def account_of_another_merchant(history: History) -> str:
    PayoutAccount.objects.filter(id=history.payouts["paid"].account_id).update(merchant=MerchantFactory())
    return public_id("po", history.payouts["paid"].id)


@breaks("payout_journals_balance")
def journal_in_another_currency(history: History) -> str:
    payout = history.payouts["paid"]
    lines = ((Account.FEES, 1), (Account.FEES, -1))
    return post_for(payout, Kind.PAYOUT, *lines, currency="USD")


@breaks("ledger_payouts_in_transit", "ledger_paid_out")
def taken_twice(history: History) -> str:
    lines = ((Account.MERCHANT_PAYABLE, 1), (Account.PAYOUTS_IN_TRANSIT, -1))
    return post_for(history.payouts["pending"], Kind.PAYOUT, *lines)


@breaks("ledger_payouts_paid", "ledger_payouts_in_transit")
def paid_twice(history: History) -> str:
    lines = ((Account.PAYOUTS_IN_TRANSIT, 1), (Account.BANK, -1))
    return post_for(history.payouts["paid"], Kind.PAYOUT_PAID, *lines)


@breaks("ledger_reserves", "ledger_paid_out")
def reserve_kept_of_what_came_back(history: History) -> str:
    payout = history.payouts["returned"]
    lines = ((Account.MERCHANT_PAYABLE, payout.reserve), (Account.MERCHANT_RESERVE, -payout.reserve))
    forge(payout, reserve_due_at=payout.ended_at)
    return post_for(payout, Kind.RESERVE, *lines)


@breaks("ledger_paid_out", "ledger_reserves")
def reserve_released_without_a_journal(history: History) -> str:
    return forge_payout(history, "paid", reserve_due_at=None)


def put_into_a_file(history: History, name: str, **columns: object) -> str:
    """Store a file that was made of one payout, whatever its state and mode; return its ID."""
    payout = history.payouts[name]
    file = PayoutFile.objects.create(
        currency=payout.currency,
        count=1,
        total=payout.amount,
        execute_on=payout.created_at.date(),
        sealed_debtor_number=b"",
        created_by=person("ana"),
        **columns,
    )
    forge(payout, file=file)
    return public_id("pf", file.id)


# A test mode payout that was sent is now a live one.
MOVED_TO_LIVE = ("payouts_match_their_parts", "payout_journals_balance")


@breaks("live_payouts_are_in_a_sent_file", *MOVED_TO_LIVE, "simulator_payouts_are_known")
def sent_in_a_file_that_was_not(history: History) -> str:
    put_into_a_file(history, "paid")
    return forge_payout(history, "paid", livemode=True)


@breaks("bank_files_are_their_payouts")
def file_of_another_sum(history: History) -> str:
    broken = put_into_a_file(history, "paid")
    PayoutFile.objects.update(total=F("total") + 1)
    return broken


@breaks("payouts_have_their_events")
def payout_changed_without_event(history: History) -> str:
    return forge_payout(history, "paid", version=F("version") + 1)


@breaks("simulator_payouts_agree")
def payout_that_the_bank_returned(history: History) -> str:
    reference = history.payouts["paid"].id.hex
    SimulatedPayout.objects.filter(reference=reference).update(state="returned")
    return public_id("po", history.payouts["paid"].id)


@breaks("simulator_payouts_are_known")
def payout_that_nobody_asked_for(history: History) -> str:
    booked = SimulatedPayout.objects.create(
        reference=new_id().hex, amount=1, currency="PHP", last4="0000", state="paid"
    )
    return str(booked)
