"""One way to break each invariant of checkouts, links, disputes, payouts and operators' requests."""

from datetime import timedelta

from django.db.models import F

from customers.models import CustomerSource
from payments import clock
from payments.ids import new_id, parse_id, public_id
from payments.models import (
    Attempt,
    BankLine,
    Checkout,
    Dispute,
    Event,
    OperatorAction,
    PayerMessage,
    PaymentLink,
    PayoutAccount,
    PayoutFile,
    PayoutPart,
    Posting,
    ReconciliationRun,
    ReportLine,
)
from payments.providers.simulator.models import SimulatedPayment, SimulatedPayout
from tests.checkout.cast import charges_of, row_of
from tests.factories import MerchantFactory
from tests.invariants.breakages import breaks
from tests.invariants.forgery import forge, forge_charge, post, post_for
from tests.invariants.history import History
from tests.payouts.live import approval_of, stored_file


def forge_session(history: History, name: str, **values: object) -> str:
    forge(row_of(history.sessions[name]), **values)
    return str(history.sessions[name]["id"])


def forge_link(history: History, **values: object) -> str:
    forge(PaymentLink.objects.get(id=parse_id("plink", history.link["id"])), **values)
    return str(history.link["id"])


@breaks("checkouts_are_paid_once")
def held_session_that_says_it_is_paid(history: History) -> str:
    return forge_session(history, "held", state="paid")


@breaks("ended_checkouts_are_not_paid", "checkouts_say_their_end_once")
def voided_request_whose_money_was_taken(history: History) -> str:
    forge(row_of(history.requests["paid"]), state="voided")
    return str(history.requests["paid"]["id"])


@breaks("sessions_keep_their_card", "kept_sources_are_vaulted")
def card_of_a_session_that_nobody_kept(history: History) -> str:
    CustomerSource.objects.filter(source_id=row_of(history.sessions["saved"]).check_source_id).delete()
    return str(history.sessions["saved"]["id"])


@breaks("checkouts_count_their_attempts")
def attempt_without_a_charge(history: History) -> str:
    return forge_session(history, "expired", attempts=1)


@breaks("requests_are_collected_as_they_say")
def try_that_is_not_counted(history: History) -> str:
    request = history.requests["collected"]
    forge(row_of(request).request, collect_tries=2)
    return str(request["id"])


@breaks("cards_are_kept_by_paid_sessions", "checkouts_say_their_end_once")
def card_that_is_kept_by_a_session_that_has_expired(history: History) -> str:
    return forge_session(history, "saved", state="expired")


@breaks("checkouts_say_their_end_once")
def session_that_says_twice_that_it_was_paid(history: History) -> str:
    event = Event.objects.get(object_id=row_of(history.sessions["paid"]).id, type="checkout_session.completed")
    event.id, event.sequence, event._state.adding = new_id(), event.sequence + 1, True
    event.save()
    return forge_session(history, "paid", version=F("version") + 1)


@breaks("declines_are_mailed_once")
def mail_about_a_decline_that_never_was(history: History) -> str:
    mail = {"kind": "payment_failed", "about_id": history.bought.id, "sequence": 1}
    PayerMessage.objects.create(merchant_id=history.bought.merchant_id, livemode=False, **mail)
    return str(history.bought)


@breaks("charges_match_their_checkout")
def charge_of_no_checkout(history: History) -> str:
    (charge,) = charges_of(history.sessions["paid"])
    Checkout.objects.filter(id=charge.checkout_id).update(livemode=True)
    return public_id("ch", charge.id)


@breaks("link_stock_is_what_was_bought")
def piece_that_is_gone_and_was_not_sold(history: History) -> str:
    return forge_link(history, remaining=[1, 1])


@breaks("link_payments_are_counted")
def payment_that_was_not_counted(history: History) -> str:
    return forge_link(history, payments=F("payments") - 1)


@breaks("checkouts_have_their_events")
def session_changed_without_event(history: History) -> str:
    return forge_session(history, "paid", version=F("version") + 1)


@breaks("payment_links_have_their_events")
def link_changed_without_event(history: History) -> str:
    return forge_link(history, version=F("version") + 1)


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
    file = stored_file(currency=payout.currency, total=payout.amount, **columns)
    forge(payout, file=file)
    return public_id("pf", file.id)


# A test mode payout that was sent is now a live one.
MOVED_TO_LIVE = ("payouts_match_their_parts", "payout_journals_balance")


@breaks("live_payouts_are_in_a_sent_file", *MOVED_TO_LIVE, "simulator_payouts_are_known")
def sent_in_a_file_that_was_not(history: History) -> str:
    put_into_a_file(history, "paid")
    return forge_payout(history, "paid", livemode=True)


@breaks("payouts_go_out_by_their_requests")
def approved_request_that_let_nothing_out(history: History) -> str:
    approval_of(history.payouts["paid"])
    return public_id("po", history.payouts["paid"].id)


@breaks("bank_files_are_their_payouts")
def file_of_another_sum(history: History) -> str:
    broken = put_into_a_file(history, "paid")
    PayoutFile.objects.update(total=F("total") + 1)
    return broken


@breaks("bank_files_go_out_by_their_requests")
def file_sent_without_a_request(history: History) -> str:
    return put_into_a_file(history, "paid", downloaded_at=clock.now(), sent_at=clock.now())


@breaks("payouts_have_their_events")
def payout_changed_without_event(history: History) -> str:
    return forge_payout(history, "paid", version=F("version") + 1)


@breaks("simulator_payouts_agree")
def payout_that_the_bank_returned(history: History) -> str:
    reference = history.payouts["paid"].id.hex
    SimulatedPayout.objects.filter(reference=reference).update(state="returned")
    return public_id("po", history.payouts["paid"].id)


@breaks("bank_movements_are_matched_once")
def payout_that_left_our_bank_with_another_amount(history: History) -> str:
    payout, now = history.payouts["paid"], clock.now()
    run = ReconciliationRun.objects.create(provider="bpi-payouts", started_by="command", covers_to=now)
    moved = {"kind": "booked", "amount": 1 - payout.amount, "currency": payout.currency, "booked_at": now}
    line = ReportLine.objects.create(run=run, number=1, provider=run.provider, matched_at=now, **moved)
    BankLine.objects.create(line=line, payout=payout)
    return str(line)


@breaks("simulator_payouts_are_known")
def payout_that_nobody_asked_for(history: History) -> str:
    booked = SimulatedPayout.objects.create(
        reference=new_id().hex, amount=1, currency="PHP", last4="0000", state="paid"
    )
    return str(booked)


def action_of(history: History, name: str) -> OperatorAction:
    return OperatorAction.objects.get(charge=history.charge(name))


@breaks("actions_are_decided_by_another")
def approved_by_oneself(history: History) -> str:
    action = action_of(history, "refunded by two")
    forge(action, decided_by=F("proposed_by"))
    return public_id("ch", action.charge_id)


@breaks("approval_limits_hold")
def above_the_limit_alone(history: History) -> str:
    action = action_of(history, "refunded by two")
    forge(action, decided_by=None)
    return public_id("ch", action.charge_id)


@breaks("done_actions_have_their_attempt")
def done_by_an_attempt_at_something_else(history: History) -> str:
    action = action_of(history, "refunded by one")
    forge(action, attempt=Attempt.objects.get(charge=action.charge, kind="authorize"))
    return action.id.hex


@breaks("approved_actions_are_executed")
def approved_and_forgotten(history: History) -> str:
    action = action_of(history, "refunded by one")
    forge(action, state="approved", attempt=None, updated_at=clock.now() - timedelta(hours=1))
    return action.id.hex
