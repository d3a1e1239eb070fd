"""What a payer agreed to when a source was kept: its bounds, where it is kept, and as evidence in a dispute."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from payments import clock
from payments.domain.disputes import evidence, respond
from payments.ids import parse_id
from payments.models import Dispute, Source
from payments.providers.base import Rejected
from payments.providers.disputes import UNUSABLE, DisputeResponse
from tests.charging.doubles import Double, provider
from tests.client import APPROVED, Api, error_of, made
from tests.disputes.stories import AT_ONCE, a_week_passes, deliver

CONSENT = {
    "text": "A box each week for 450 pesos, until I end it.",
    "at": "2026-11-20T09:30:00+08:00",
    "ip": "203.0.113.7",
    "user_agent": "Mozilla/5.0",
}
LEAST = {"text": "x", "at": "2026-11-20"}
WINNING = CONSENT | {"text": "This is winning_evidence."}
OWN = "The merchant's own words."
KEPT = CONSENT | {"at": "2026-11-20T01:30:00.000000Z"}


def attach_with(api: Api, maria: dict[str, Any], consent: Any, number: str = APPROVED) -> Any:
    return api.post(f"/customers/{maria['id']}/sources", {"source": api.source(number), "consent": consent})


def kept_with(api: Api, maria: dict[str, Any], consent: dict[str, Any], number: str = APPROVED) -> str:
    return str(made(attach_with(api, maria, consent, number))["sources"][0]["id"])


def consent_of(source: str) -> Any:
    return Source.objects.get(id=parse_id("src", source)).consent


@pytest.mark.parametrize(
    ("consent", "kept"),
    [(CONSENT, KEPT), (None, None), (LEAST | {"ip": None}, LEAST | {"at": "2026-11-20T00:00:00.000000Z"})],
    ids=["whole", "none", "least"],
)
def test_consent_is_kept_with_the_source_and_in_no_answer(
    api: Api, maria: dict[str, Any], consent: Any, kept: Any
) -> None:
    answer = attach_with(api, maria, consent)
    [source] = made(answer)["sources"]
    assert consent_of(source["id"]) == kept
    assert "consent" not in answer.content.decode()


@pytest.mark.parametrize(
    ("changes", "param", "code"),
    [
        ({"text": None}, "text", "missing"),
        ({"text": ""}, "text", "too_short"),
        ({"text": "x" * 5001}, "text", "too_long"),
        ({"text": f"My card is {APPROVED}"}, "text", "card_data"),
        ({"user_agent": APPROVED}, "user_agent", "card_data"),
        ({"user_agent": "x" * 501}, "user_agent", "too_long"),
        ({"at": None}, "at", "missing"),
        ({"at": 1764000000}, "at", "invalid_type"),
        ({"at": "yesterday"}, "at", "invalid_moment"),
        ({"at": "1969-12-31"}, "at", "too_early"),
        ({"ip": "example.com"}, "ip", "invalid_ip"),
        ({"ip": 3405803783}, "ip", "invalid_type"),
        ({"agreed": True}, "agreed", "unknown_parameter"),
    ],
)
def test_a_bad_consent_is_refused_and_keeps_nothing(
    api: Api, maria: dict[str, Any], changes: dict[str, Any], param: str, code: str
) -> None:
    response = attach_with(api, maria, CONSENT | changes)
    error = error_of(response)
    assert (response.status_code, error["code"], error["param"]) == (422, code, f"consent.{param}")
    assert not Source.objects.get().vaulted


def test_nobody_has_agreed_in_the_future(api: Api, maria: dict[str, Any]) -> None:
    in_two_days = (clock.now() + timedelta(days=2)).isoformat()
    assert error_of(attach_with(api, maria, CONSENT | {"at": in_two_days}))["code"] == "invalid_choice"


def test_operators_see_it_on_the_page_of_the_source(admin_client: Client, api: Api, maria: dict[str, Any]) -> None:
    source = kept_with(api, maria, CONSENT)
    page = admin_client.get(f"/admin/payments/source/{parse_id('src', source)}/change/").content.decode()
    assert all(text in page for text in (CONSENT["text"], CONSENT["ip"], CONSENT["user_agent"]))


def answered(api: Api, charge: dict[str, Any]) -> str:
    """Submit evidence of the merchant's own against the dispute of a charge, and return how the dispute ends."""
    path = f"/disputes/{made(api.get('/disputes/', charge=charge['id']))['data'][0]['id']}"
    made(api.post(f"{path}/evidence", {"type": "other", "text": OWN}))
    made(api.post(f"{path}/submit"))
    respond.send_due()
    a_week_passes()
    return str(made(api.get(path))["status"])


@pytest.mark.parametrize("keeps", [True, False], ids=["still kept", "given up"])
def test_it_goes_to_the_provider_beside_the_evidence_of_a_dispute(api: Api, maria: dict[str, Any], keeps: bool) -> None:
    source = kept_with(api, maria, WINNING, AT_ONCE)
    charge = api.charge_source(source)
    deliver()
    if not keeps:
        made(api.delete(f"/customers/{maria['id']}/sources/{source}"))
    assert answered(api, charge) == "won"
    assert [piece.content for piece in evidence.opened(Dispute.objects.get())] == [OWN]


def test_where_no_document_can_show_it_the_merchants_evidence_goes_alone(api: Api, maria: dict[str, Any]) -> None:
    charge = api.charge_source(kept_with(api, maria, WINNING, AT_ONCE))
    deliver()

    def respond_to(do: Callable[[], Any], asked: DisputeResponse) -> Any:
        return do() if len(asked.evidence) == 1 else Rejected(UNUSABLE)

    with provider(Double(respond=respond_to)):
        assert answered(api, charge) == "lost"
