"""Payers of live mode: the code that they scan, and their way back."""

from typing import Any

import pytest
import segno
from django.http import HttpResponse
from django.test import Client
from pytest_django.fixtures import Settings

from payments.models import Attempt, Charge, PageVisit, ProviderAccount
from payments.providers.base import ActionRequired, NotSent, Rejected, Unknown
from payments.providers.simulator.books import approve
from payments.providers.simulator.models import SimulatedPayment
from tests.charging.elapsed_time import recover
from tests.checkout.cast import opened
from tests.client import Api
from tests.pages.waiting_charges import SHOP, path_of
from tests.provider_events.psp import WebhookPsp, announce, approved, event_about, name_of

pytestmark = pytest.mark.django_db
CODE = "00020101021228770011com.p2pqrpay0111PAEYPHM2XXX0208999644030411632990000000005204601653036085406100.005802PH"


@pytest.fixture
def scanned(live: Api, psp: WebhookPsp) -> dict[str, Any]:
    """Return a charge whose payer scans a code."""
    psp.answers.append(ActionRequired("pr-1", "", qr=CODE))
    return live.charge_source(live.wallet("qrph"))


def text_of(response: HttpResponse) -> str:
    assert response.status_code == 200, response.content
    return response.content.decode()


def test_a_code_is_shown_on_a_page_of_ours(client: Client, scanned: dict[str, Any], settings: Settings) -> None:
    assert scanned["action"]["url"].startswith(f"{settings.PUBLIC_URL}/pay/")
    response = client.get(path_of(scanned["action"]["url"]))
    page = text_of(response)
    for shown in ("QR Ph", "Sari Store", "₱100.00", "/qr.svg", "I have paid"):
        assert shown in page
    assert "Test mode" not in page
    assert (response["Refresh"], response["Cache-Control"]) == ("5", "no-store")
    assert PageVisit.objects.get().page == PageVisit.Page.ASKED


def test_the_page_of_a_checkout_s_code_leads_to_another_way_to_pay(client: Client, live: Api, psp: WebhookPsp) -> None:
    psp.answers.append(ActionRequired("pr-1", "", qr=CODE))
    session = opened(live, payment_method_types=["qrph", "gcash"])
    page = client.post(path_of(session["payment_url"]), {"attempt": "0", "way": "qrph"})["Location"]
    assert f'href="{session["payment_url"]}"' in text_of(client.get(path_of(page)))


def test_the_code_is_what_the_provider_gave(client: Client, scanned: dict[str, Any]) -> None:
    response = client.get(path_of(scanned["action"]["url"]) + "/qr.svg")
    assert response["Content-Type"] == "image/svg+xml"
    assert segno.make_qr(CODE).svg_inline(scale=6, light="white").partition("<g")[2] in text_of(response)


def test_the_code_stays_where_a_lookup_shows_nothing(client: Client, psp: WebhookPsp, scanned: dict[str, Any]) -> None:
    psp.found = Unknown("timed out")
    recover()
    assert "/qr.svg" in text_of(client.get(path_of(scanned["action"]["url"])))


def test_the_page_of_a_code_leads_on_once_the_payment_has_come(
    client: Client, live: Api, scanned: dict[str, Any], account: ProviderAccount
) -> None:
    announce(account, event_about(name_of("authorize"), approved(captured=True)))

    onwards = client.get(path_of(scanned["action"]["url"]))
    assert onwards.status_code == 303
    assert "your payment went through" in text_of(client.get(path_of(onwards["Location"])))
    assert live.read(scanned)["status"] == "succeeded"


def test_who_says_to_have_paid_waits_until_it_is_so(client: Client, psp: WebhookPsp, scanned: dict[str, Any]) -> None:
    psp.continued = ActionRequired("pr-1", "", qr=CODE)
    page = text_of(client.get(path_of(scanned["action"]["url"])))
    back = page.rpartition('class="button" href="')[2].partition('"')[0]
    assert scanned["action"]["url"] in text_of(client.get(path_of(back)))


@pytest.mark.parametrize("end", ["", "/qr.svg"])
def test_a_payment_without_a_code_has_no_page_for_it(
    client: Client, live: Api, account: ProviderAccount, end: str
) -> None:
    live.charge_source(live.wallet())
    token = SimulatedPayment.objects.get().return_url.rpartition("/")[2]
    assert client.get(f"/pay/{token}{end}").status_code == 404
    assert client.get(f"/pay/nothing{end}").status_code == 404


@pytest.mark.parametrize(
    "answer",
    [NotSent("too many requests"), Unknown("timed out"), Rejected("INVALID", "Bad request")],
    ids=["unsent", "lost", "rejected"],
)
def test_a_payer_whose_return_shows_nothing_waits_and_is_asked_about_again(
    client: Client, live: Api, psp: WebhookPsp, answer: Any
) -> None:
    charge = live.charge_source(live.wallet(redirect=SHOP))
    payment = SimulatedPayment.objects.get()
    back = path_of(payment.return_url)
    approve(payment, send_message=False)
    psp.continued = answer
    waiting = client.get(back)
    assert (waiting["Refresh"], live.read(charge)) == ("3", charge)

    psp.continued = None
    assert client.get(back)["Location"] == SHOP["success"]
    assert Charge.objects.get().status == "succeeded"


def test_coming_back_proves_nothing(client: Client, live: Api, account: ProviderAccount) -> None:
    charge = live.charge_source(live.wallet(redirect=SHOP))
    back = path_of(SimulatedPayment.objects.get().return_url)
    assert client.get(back, {"status": "SUCCEEDED", "resultCode": "Authorised"}).status_code == 200
    assert live.read(charge) == charge


def test_what_the_payer_brings_along_is_given_to_the_provider(client: Client, live: Api, psp: WebhookPsp) -> None:
    live.charge_source(live.wallet())
    client.get(path_of(SimulatedPayment.objects.get().return_url), {"redirectResult": "X6XtfGC3!Y"})
    assert psp.brought == [{"redirectResult": "X6XtfGC3!Y"}]


def test_the_waiting_page_moves_on_when_a_webhook_brings_the_outcome(
    client: Client, live: Api, psp: WebhookPsp, account: ProviderAccount
) -> None:
    live.charge_source(live.wallet(redirect=SHOP))
    back = path_of(SimulatedPayment.objects.get().return_url)
    psp.continued = Unknown("timed out")
    assert client.get(back).status_code == 200

    announce(account, event_about(name_of("authorize"), approved(captured=True)))

    assert client.get(back)["Location"] == SHOP["success"]
    assert Attempt.objects.get().state == "done"
