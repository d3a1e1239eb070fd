"""One way to break each invariant, in a database without constraints."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import F

from customers.models import CustomerSource
from payments import clock
from payments.ids import new_id, parse_id, public_id
from payments.models import AccountDay, IdempotencyRecord, Posting, RunningBalance, Settlement, Source
from payments.providers.simulator.models import Entry
from tests.factories import MerchantFactory
from tests.invariants.forgery import forge, forge_charge, post, posting_of
from tests.invariants.history import History

Account, Kind = Posting.Account, Posting.Kind


@dataclass(frozen=True)
class Breakage:
    """`do` breaks an invariant and returns the ID of the offender; the invariants of `also` break with it."""

    do: Callable[[History], str]
    also: frozenset[str]


BREAKAGES: dict[str, Breakage] = {}


def breaks(name: str, *also: str) -> Callable[[Callable[[History], str]], Callable[[History], str]]:
    def register(do: Callable[[History], str]) -> Callable[[History], str]:
        BREAKAGES[name] = Breakage(do, frozenset(also))
        return do

    return register


@breaks("amounts_within_bounds", "ledger_captured", "ledger_owes_the_merchant", "simulator_agrees")
def more_captured_than_asked_for(history: History) -> str:
    return forge_charge(history, "captured", amount_captured=10_001)


@breaks("flags_match_status")
def captured_and_failed(history: History) -> str:
    return forge_charge(history, "captured", status="failed")


@breaks("refunded_means_all")
def refunded_in_part_alone(history: History) -> str:
    return forge_charge(history, "part refunded", status="refunded")


@breaks("refunds_add_up", "ledger_owes_the_merchant", "simulator_agrees")
def refunded_by_no_refund(history: History) -> str:
    return forge_charge(history, "part refunded", amount_refunded=F("amount_refunded") + 1)


@breaks("refunds_match_their_charge")
def refund_in_another_currency(history: History) -> str:
    refund = history.charge("refunded").refunds.get()
    forge(refund, currency="USD")
    return public_id("re", refund.id)


@breaks("charges_match_their_source", "cards_match_their_source")
def source_of_another_merchant(history: History) -> str:
    forge(history.charge("captured").source, merchant=MerchantFactory())
    return history.charges["captured"]["id"]


@breaks("cards_match_their_source")
def card_of_another_merchant(history: History) -> str:
    source = history.charge("captured").source
    forge(source.card, merchant=MerchantFactory())
    return public_id("src", source.id)


@breaks("fees_follow_the_rate")
def another_rate(history: History) -> str:
    return forge_charge(history, "captured", fee_basis_points=351)


@breaks("one_charge_per_source", "used_sources_have_their_charge")
def two_charges_of_one_source(history: History) -> str:
    source_id = history.charge("captured").source_id
    forge_charge(history, "held", source_id=source_id)
    return public_id("src", source_id)


@breaks("used_sources_have_their_charge")
def used_by_nothing(history: History) -> str:
    forge(Source.objects.get(id=parse_id("src", history.unused)), used=True)
    return history.unused


@breaks("journals_balance")
def journal_with_one_line_more(history: History) -> str:
    charge = history.charge("captured")
    return post(charge, Kind.CAPTURE, (Account.BANK, 1), journal=posting_of(charge).journal)


@breaks("journals_are_about_one_charge")
def journal_about_two_charges(history: History) -> str:
    other = posting_of(history.charge("held"))
    lines = ((Account.BANK, 5), (Account.BANK, -5))
    return post(history.charge("captured"), Kind.HOLD, *lines, journal=other.journal)


@breaks("postings_match_their_charge", "balances_are_the_sums")
def posting_in_another_currency(history: History) -> str:
    charge = history.charge("captured")
    forge(posting_of(charge, account=Account.FEES), currency="USD")
    return public_id("ch", charge.id)


@breaks("postings_match_their_settlement", "balances_are_paid_out_once")
def settled_in_another_currency(history: History) -> str:
    charge = history.charge("settled last")
    mine = posting_of(charge, kind=Kind.SETTLE).settlement
    assert mine is not None
    other = Settlement.objects.create(merchant=mine.merchant, livemode=False, currency="USD", day=mine.day)
    Posting.objects.filter(charge=charge, kind=Kind.SETTLE).update(settlement=other)
    return public_id("ch", charge.id)


@breaks("ledger_holds")
def held_of_nothing(history: History) -> str:
    return post(history.charge("captured"), Kind.HOLD, (Account.PROVIDER_HOLD, 1), (Account.MERCHANT_HOLD, -1))


@breaks("ledger_captured", "ledger_owes_the_merchant")
def captured_again(history: History) -> str:
    lines = ((Account.PROVIDER_RECEIVABLE, 1), (Account.MERCHANT_PENDING, -1))
    return post(history.charge("captured"), Kind.CAPTURE, *lines)


@breaks("ledger_refunds_in_transit", "ledger_owes_the_merchant")
def refund_asked_again(history: History) -> str:
    lines = ((Account.MERCHANT_PENDING, 1), (Account.REFUNDS_IN_TRANSIT, -1))
    return post(history.charge("refund pending"), Kind.REFUND, *lines)


@breaks("ledger_refunds_succeeded", "ledger_owes_the_merchant")
def refund_given_again(history: History) -> str:
    lines = ((Account.MERCHANT_PENDING, 1), (Account.PROVIDER_RECEIVABLE, -1))
    return post(history.charge("refunded"), Kind.REFUND_SETTLED, *lines)


@breaks("ledger_fees", "ledger_owes_the_merchant")
def fee_taken_again(history: History) -> str:
    return post(history.charge("captured"), Kind.FEE, (Account.MERCHANT_PENDING, 1), (Account.FEES, -1))


@breaks("ledger_owes_the_merchant")
def paid_out_of_nothing(history: History) -> str:
    settlement = Settlement.objects.latest("number")
    lines = ((Account.BANK, 1), (Account.MERCHANT_PAYABLE, -1))
    return post(history.charge("settled"), Kind.SETTLE, *lines, settlement=settlement)


@breaks("ledger_reversals")
def reversed_twice(history: History) -> str:
    lines = ((Account.REVERSALS, 10_000), (Account.PROVIDER_RECEIVABLE, -10_000))
    return post(history.charge("came late"), Kind.REVERSAL, *lines)


@breaks("balances_are_the_sums")
def balance_that_nothing_posted(history: History) -> str:
    charge = history.charge("captured")
    RunningBalance.objects.filter(merchant=charge.merchant_id).update(fees=F("fees") + 1)
    return public_id("mer", charge.merchant_id)


@breaks("account_days_are_the_sums")
def day_summed_without_a_posting(history: History) -> str:
    charge = history.charge("captured")
    of_merchant = {"merchant_id": charge.merchant_id, "livemode": False, "currency": "PHP"}
    sums = {"account": Account.FEES, "kind": Kind.FEE, "debits": 0, "credits": 1, "postings": 1}
    AccountDay.objects.create(day=clock.now().date() - timedelta(days=1), **of_merchant, **sums)
    return public_id("mer", charge.merchant_id)


@breaks("settled_charges_leave_nothing")
def settled_without_posting(history: History) -> str:
    return forge_charge(history, "captured", settled_at=clock.now(), settle_due_at=None)


@breaks("captured_charges_settle")
def never_settled(history: History) -> str:
    return forge_charge(history, "captured", settle_due_at=None)


@breaks("attempts_match_their_charge")
def attempt_of_another_merchant(history: History) -> str:
    attempt = history.attempt("unknown")
    forge(attempt, merchant=MerchantFactory())
    return attempt.reference


@breaks("attempts_are_looked_up")
def attempt_without_lookup(history: History) -> str:
    attempt, long_ago = history.attempt("unknown"), clock.now() - timedelta(hours=1)
    forge(attempt, due_at=long_ago, updated_at=long_ago)
    return attempt.reference


@breaks("given_up_attempts_are_looked_up_again")
def given_up_for_good(history: History) -> str:
    attempt = history.attempt("never arrived")
    forge(attempt, due_at=None, tries=2)
    return attempt.reference


@breaks("operations_have_their_attempt")
def operation_without_attempt(history: History) -> str:
    return forge_charge(history, "held", operation="capture")


@breaks("charges_have_their_authorization", "simulator_agrees")
def authorization_closed_without_outcome(history: History) -> str:
    forge(history.attempt("unknown"), state="done", outcome="Approved", due_at=None)
    return history.charges["unknown"]["id"]


@breaks("refunds_have_their_attempt")
def refund_closed_without_outcome(history: History) -> str:
    attempt = history.attempt("refund pending", "refund")
    forge(attempt, state="done", outcome="Approved", due_at=None)
    assert attempt.refund_id is not None
    return public_id("re", attempt.refund_id)


@breaks("idempotency_keys_are_answered")
def key_without_an_answer(history: History) -> str:
    record = IdempotencyRecord.objects.get(key="key of captured")
    forge(record, status=None, body=None)
    return record.id.hex


@breaks("holds_are_extended_as_approved", "simulator_agrees")
def extended_without_attempt(history: History) -> str:
    return forge_charge(history, "held", hold_extended_days=7)


@breaks("blocked_payments_are_declined")
def blocked_and_asked_for(history: History) -> str:
    forge(history.attempt("declined"), block=history.charge("blocked").attempts.get().block)
    return history.charges["declined"]["id"]


@breaks("simulator_agrees")
def taken_there_alone(history: History) -> str:
    payment = history.payment("declined")
    forge(payment, state="captured", amount_captured=10_000, decline_code="")
    Entry.objects.create(payment=payment, kind=Entry.Kind.CAPTURE, amount=10_000, reference=payment.reference)
    return history.charges["declined"]["id"]


@breaks("simulator_money_is_known")
def payment_without_attempt(history: History) -> str:
    payment = history.payment("captured")
    entry = payment.entries.get()
    payment.id, payment.reference = new_id(), new_id().hex
    payment.save(force_insert=True)
    entry.pk, entry.payment = None, payment
    entry.save(force_insert=True)
    return public_id("sp", payment.id)


@breaks("simulator_entries_add_up")
def extra_entry(history: History) -> str:
    payment = history.payment("captured")
    Entry.objects.create(payment=payment, kind=Entry.Kind.REFUND, amount=1, reference=new_id().hex)
    return public_id("sp", payment.id)


@breaks("kept_sources_are_vaulted", "charges_know_their_customer")
def vaulted_without_customer(history: History) -> str:
    CustomerSource.objects.filter(source_id=parse_id("src", history.kept)).delete()
    return history.kept


@breaks("charges_know_their_customer")
def charge_of_a_customer_that_it_never_had(history: History) -> str:
    return forge_charge(history, "captured", customer_id=new_id())
