"""What leaves is encrypted for the one who may read it, and comes in again as it left."""

import io
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from customers.domain.imported import IMPORTED
from customers.models import Customer
from payments.domain.merchants.merchants import NewMerchant, create_merchant
from payments.models import AuditEntry
from payments.vault import VaultUnavailable
from tests.client import Api
from tests.customers.factories import attach, new_customer
from tests.moving.conftest import Import
from tests.moving.files import MASTERCARD, STRIPE, VISA, anna, approved, csv_of

pytestmark = pytest.mark.django_db
Export = Callable[..., bytes]
IDS = re.compile(rb"(?:cus|src)_[0-9a-f]{32}")


@pytest.fixture
def gpg(tmp_path: Path) -> Iterator[Callable[..., bytes]]:
    home = tmp_path / "receiver"
    home.mkdir(mode=0o700)

    def run(*arguments: str, given: bytes = b"") -> bytes:
        command = ["gpg", "--homedir", str(home), "--batch", "--quiet", "--passphrase", "", *arguments]
        return subprocess.run(command, input=given, check=True, stdout=subprocess.PIPE).stdout

    run("--quick-generate-key", "receiver@shop.example", "default", "default", "never")
    (tmp_path / "key").write_bytes(run("--armor", "--export"))
    yield run
    # GnuPG leaves a server for the private key behind.
    subprocess.run(["gpgconf", "--homedir", str(home), "--kill", "gpg-agent"], check=True)


@pytest.fixture
def take(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Export:
    monkeypatch.setattr("payments.management.commands.export_customers.leave_no_core_dump", lambda: None)

    def run(merchant: str, *options: str) -> bytes:
        capfdbinary.readouterr()
        call_command("export_customers", "--merchant", merchant, *options, stderr=io.StringIO())
        return capfdbinary.readouterr().out

    return run


@pytest.mark.tools
def test_what_leaves_comes_in_again_as_it_left_but_for_ids(
    api: Api, shop: NewMerchant, bring: Import, take: Export, gpg: Callable[..., bytes], tmp_path: Path
) -> None:
    maria = new_customer(api, metadata={"vip": 1.10, "name": '"M"'}, description="A\rand B", mobile_number="+6391")
    consent = {"text": 'Yes,\n"always".', "at": "2026-01-02T03:04:05Z", "user_agent": "x"}
    api.post(f"/customers/{maria['id']}/sources", {"source": api.source(), "consent": consent})
    attach(api, maria)
    assert "2 imported" in bring(csv_of(anna(), {"customer_id": "c-2", "email": "c@shop.example"})).said
    bring(STRIPE)
    left = take(shop.merchant.title, "--recipient", str(tmp_path / "key"))
    first = gpg("--decrypt", given=left)
    create_merchant("Tindahan", statement_descriptor="TINDAHAN")

    brought = bring(first, "--merchant", "Tindahan")

    second = gpg("--decrypt", given=take("Tindahan", "--recipient", str(tmp_path / "key")))
    assert VISA.encode() not in left
    assert brought.said.endswith("7 imported\n")
    assert len(IDS.findall(first)) == 12
    assert IDS.sub(b"ID", first) == IDS.sub(b"ID", second) != first
    assert IMPORTED.encode() not in first


def test_customers_leave_without_cards_in_the_clear_and_cards_encrypted_only(
    api: Api, shop: NewMerchant, bring: Import, take: Export
) -> None:
    bring(csv_of(anna(), anna(payment_instrument_id="pm-2", raw_card_number=MASTERCARD)))

    left = take(shop.merchant.title, "--no-cards").decode().splitlines()

    assert (len(left), VISA in "".join(left)) == (2, False)
    assert "anna@shop.example,Anna Reyes,+639171234567" in left[1]
    with pytest.raises(CommandError, match="encrypted only"):
        take(shop.merchant.title)
    begun, ended = AuditEntry.objects.filter(action="exported").order_by("id")
    assert ended.detail.startswith(f"{begun.detail}: 1 rows, SHA-256")


def test_a_file_that_breaks_off_is_not_ended_as_if_it_were_whole(
    shop: NewMerchant, take: Export, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    def lines(*_: Any, **__: Any) -> Iterator[bytes]:
        yield b"a line"
        raise VaultUnavailable("The vault is away.")

    monkeypatch.setattr("payments.management.commands.export_customers.lines_of", lines)
    with pytest.raises(CommandError, match="is away"):
        take(shop.merchant.title, "--no-cards")
    assert capfdbinary.readouterr().out == b""


def test_what_left_is_known_where_it_comes_from(api: Api, shop: NewMerchant, bring: Import, take: Export) -> None:
    maria = new_customer(api)
    row = bring(take(shop.merchant.title, "--no-cards")).row(2)
    assert (row["result"], row["customer"], Customer.objects.count()) == ("known", maria["id"], 1)


@pytest.mark.tools
def test_live_cards_leave_for_a_key_that_another_person_approved(
    shop: NewMerchant, take: Export, gpg: Callable[..., bytes], settings: Any, tmp_path: Path
) -> None:
    settings.LIVE_CARDS_ATTESTED = True
    (tmp_path / "no-key").write_bytes(b"x")
    with pytest.raises(CommandError, match="one public key"):
        take(shop.merchant.title, "--recipient", str(tmp_path / "no-key"))
    live = shop.merchant.title, "--mode", "live", "--recipient", str(tmp_path / "key")
    with pytest.raises(CommandError, match=r"Two people approve this first.* digest ([0-9A-F]{40})\.") as refused:
        take(*live)

    approved(shop.merchant, digest=f"{refused.value}"[-41:-1])

    assert gpg("--decrypt", given=take(*live)).count(b"\n") == 1
    assert AuditEntry.objects.filter(action="exported", is_notice=True).count() == 1
