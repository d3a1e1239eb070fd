"""Pictures of the pages of operators, merchants and payers, with a year of demo charges, for README and the guides."""

import json
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Page

from payments.domain.approvals.request import ask
from payments.domain.shared.verbs import Call
from payments.ids import public_id
from payments.models import ApprovalRequest, Charge, Dispute, Merchant, Payout
from payments.quickstart import demo_merchant
from tests.figures.back_office import payer_pictures
from tests.figures.back_office.demo_office import demo_office
from tests.figures.back_office.picture import PICTURES, take
from tests.mcp.assistant import Assistant
from tests.office.tabs import WAYS, Office, main_pages

SHOTS = ("first-page", "charges", "charge", "refund", "desk", "reconciliation", "dispute")
LIGHT = WAYS["light"]


def screenshots(charges: int, folder: Path) -> dict[str, int]:
    """Seed so many charges and write a picture of each page; return how many bytes each has."""
    # As the API's client in this process calls itself.
    settings.ALLOWED_HOSTS = ["testserver"]
    PICTURES.mkdir(parents=True, exist_ok=True)
    sizes: dict[str, int] = {}
    with demo_office(charges, folder) as office:
        pages = main_pages() | {"dispute": reverse("admin:payments_dispute_change", args=[_dispute().pk])}
        for page in SHOTS:
            sizes |= _shot(office.tab_of("superuser", "ana", **LIGHT), pages[page], f"{page}-light")
        sizes |= _of_merchant(office, folder)
        for part in payer_pictures.pictures(office, folder):
            sizes |= part
    return sizes


def _of_merchant(office: Office, folder: Path) -> dict[str, int]:
    """Write a picture of each page of the merchants' site, as the owner of the demo shop sees it."""
    owner, sizes = User.objects.get(username=demo_merchant.OWNER), {}
    password = json.loads((folder / "demo.json").read_text())["owner_password"]
    payments = "/merchant/payments"
    pages = {
        "home": "/merchant/",
        "charges": f"{payments}/charge/",
        "dispute": f"{payments}/dispute/{_dispute().pk}/change/",
        "payout": f"{payments}/payout/{_payout().pk}/change/",
        "assistant": f"{payments}/assistantcall/{_asked_by_an_assistant().pk}/decide/",
    }
    for page, address in pages.items():
        sizes |= _shot(office.tab_of_user(owner, **LIGHT), address, f"merchant-{page}-light", password)
    return sizes


def _shop() -> Merchant:
    return Merchant.objects.get(title=demo_merchant.TITLE)


def _dispute() -> Dispute:
    """Return the dispute of the demo shop that it can still respond to."""
    return Dispute.objects.filter(charge__merchant=_shop(), status=Dispute.Status.NEEDS_RESPONSE).latest("pk")


def _payout() -> Payout:
    return Payout.objects.filter(merchant=_shop(), status=Payout.Status.PAID).latest("pk")


def _asked_by_an_assistant() -> ApprovalRequest:
    """Return the request of an assistant of the demo shop for a refund."""
    mine = Charge.objects.filter(merchant=_shop(), status=Charge.Status.SUCCEEDED, captured=True, amount_refunded=0)
    charge = mine.latest("pk")
    call = Call("refund", public_id("ch", charge.pk), {"amount": charge.amount // 2})
    return ask(Assistant(_shop(), ["refund"]).key, call, "refund-1", "One of two boxes arrived damaged.")


def _shot(tab: Page, address: str, name: str, password: str = "") -> dict[str, int]:
    """Write a picture of the page at an address, which may ask for the password before it is shown."""
    tab.goto(address)
    if "/confirm/" in tab.url:
        tab.get_by_label("Password").fill(password)
        tab.get_by_role("button", name="Continue").click()
        tab.wait_for_url(f"**{address}")
    return take(tab, name)
