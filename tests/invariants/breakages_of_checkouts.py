"""One way to break each invariant of checkouts and links."""

from django.db.models import F

from customers.models import CustomerSource
from payments.ids import new_id, parse_id, public_id
from payments.models import Checkout, Event, PayerMessage, PaymentLink
from tests.checkout.cast import charges_of, row_of
from tests.invariants.breakages import breaks
from tests.invariants.forgery import forge
from tests.invariants.history import History


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
