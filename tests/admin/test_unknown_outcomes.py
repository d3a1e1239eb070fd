import re

from django.test import Client
from django.urls import reverse

from payments import clock
from payments.admin.shown_times import moment_in_list
from payments.domain.merchants.merchants import NewMerchant
from payments.ids import public_id
from payments.models import Attempt, AuditEntry, Charge, UnknownOutcome
from tests.admin.conftest import text_of
from tests.admin.test_pages import list_of, page_of
from tests.charging.doubles import NeverHears, Unreachable, provider
from tests.charging.elapsed_time import recover
from tests.client import ANSWER_LOST, Api
from tests.operators.corrections import unknown_operation, unknown_payment


def look_up_at(attempt: Attempt) -> str:
    return reverse("admin:payments_unknownoutcome_look_up", args=[attempt.pk])


def propose_at(attempt: Attempt) -> str:
    return reverse("admin:payments_unknownoutcome_propose", args=[attempt.pk])


def desk_page(attempt: Attempt) -> str:
    return reverse("admin:payments_unknownoutcome_change", args=[attempt.pk])


def test_the_inbox_leads_to_the_desk(ana: Client) -> None:
    text = text_of(ana.get(reverse("admin:inbox")))
    assert f'href="{list_of(UnknownOutcome)}"' in text
    assert ">Unknown outcomes<" in text


def test_the_desk_has_each_unknown_outcome_oldest_first_and_nothing_else(api: Api, ana: Client) -> None:
    first, second = unknown_payment(api), unknown_operation(api, "capture")
    api.charge()
    text = text_of(ana.get(list_of(UnknownOutcome)))
    assert re.findall(r"unknownoutcome/([0-9a-f-]+)/change/", text) == [str(first.pk), str(second.pk)]


def test_a_line_says_what_was_asked_and_when_it_is_looked_up_and_its_page_what_was_answered(
    shop: NewMerchant, api: Api, ana: Client
) -> None:
    api.charge(ANSWER_LOST, amount=125_000)
    attempt = Attempt.objects.get()
    text, page = (text_of(ana.get(address)) for address in (list_of(UnknownOutcome), desk_page(attempt)))
    facts = [shop.merchant.title, "₱1,250.00", "Authorize", "simulator"]
    moments = [moment_in_list(moment) for moment in (attempt.created_at, attempt.due_at)]
    assert [word for word in [*facts, *moments] if word not in text] == []
    asked = [public_id("ch", attempt.charge_id), attempt.reference, attempt.request_id, "the answer was lost"]
    assert [word for word in asked if word not in page] == []


def test_the_desk_is_searched_by_the_ids_of_what_it_is_about(unknown: Attempt, api: Api, ana: Client) -> None:
    other = unknown_payment(api)
    for term in (public_id("ch", unknown.charge_id), unknown.reference, unknown.request_id):
        text = text_of(ana.get(list_of(UnknownOutcome), {"q": term}))
        assert desk_page(unknown) in text, term
        assert desk_page(other) not in text, term


def test_a_lookup_now_finds_the_outcome(unknown: Attempt, ana: Client) -> None:
    assert look_up_at(unknown) in text_of(ana.get(desk_page(unknown)))
    assert "Approved" in text_of(ana.post(look_up_at(unknown), follow=True))
    assert Charge.objects.get().status == "succeeded"
    assert not UnknownOutcome.objects.exists()


def test_a_lookup_now_that_finds_nothing_says_when_the_next_is_due(unknown: Attempt, ana: Client) -> None:
    with provider(Unreachable()):
        text = text_of(ana.post(look_up_at(unknown), follow=True))
    assert "still unknown" in text
    unknown.refresh_from_db()
    assert (unknown.tries, unknown.due_at > clock.now()) == (1, True)


def test_a_lookup_now_of_a_capture_that_never_arrived_frees_the_charge(api: Api, ana: Client) -> None:
    charge = api.held()
    with provider(NeverHears()):
        api.post(f"/charges/{charge['id']}/capture")
    text_of(ana.post(look_up_at(Attempt.objects.latest("pk")), follow=True))
    assert Charge.objects.get().operation == ""


def test_who_looked_up_stands_in_the_history(unknown: Attempt, ana: Client) -> None:
    ana.post(look_up_at(unknown))
    [entry] = AuditEntry.objects.about(unknown)
    assert (entry.actor, entry.action) == ("ana", "looked_up")


def test_only_a_post_looks_up(unknown: Attempt, ana: Client) -> None:
    assert ana.get(look_up_at(unknown)).status_code == 405
    assert UnknownOutcome.objects.exists()


def test_a_page_of_an_outcome_that_became_known_leads_to_the_attempt(unknown: Attempt, ana: Client) -> None:
    recover()
    for response in (
        ana.get(desk_page(unknown), follow=True),
        ana.get(propose_at(unknown), follow=True),
        ana.post(look_up_at(unknown), follow=True),
    ):
        assert "The outcome of this attempt is known." in text_of(response)
        assert response.redirect_chain[-1][0] == page_of(Attempt.objects.get())
