"""What anybody reads of the log, and what a merchant gets of its own."""

import base64
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from django.core.management import call_command
from django.test import Client

from payments.domain.audit.audit_log import Action
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.transparency.proofs import with_leaves
from payments.ledger.transparency import append, heads
from payments.models import AuditEntry, LogHead, Payout, Posting
from payments.vault.signatures import origin, signed_note
from tests.client import Api, error_of, made, signed_in
from tests.contract.calls import new_payout
from tests.merchant_site.conftest import member
from tests.transparency.log import PROGRAM, books, exported, faults, keys, open_horizon, signed, verify

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("open_horizon")]
__all__ = ["open_horizon"]


@pytest.fixture
def two_heads(api: Api) -> list[LogHead]:
    api.charge()
    first = signed()
    for _ in range(4):
        api.held()
    return [first, signed()]


def test_the_newest_head_is_public_and_cached(two_heads: list[LogHead], client: Client) -> None:
    response = client.get("/transparency")
    assert response.content.decode() == two_heads[1].note
    assert response["Cache-Control"] == "public, max-age=60"
    assert "Set-Cookie" not in response.headers
    assert client.get(f"/transparency/heads/{two_heads[0].size}").content.decode() == two_heads[0].note
    assert client.get("/transparency/keys").content.decode().split() == heads.public_keys()
    assert verify.read_head(two_heads[1].note, keys()).size == two_heads[1].size


def test_a_head_is_the_beginning_of_the_next(two_heads: list[LogHead], client: Client) -> None:
    old, new = two_heads
    answer = client.get(f"/transparency/consistency/{old.size}/{new.size}").json()
    proof = [base64.b64decode(each) for each in answer["proof"]]
    verify.check_consistency(*(verify.read_head(head.note, keys()) for head in two_heads), proof)


@pytest.mark.parametrize("path", ["heads/7", "heads/99999999999999999999", "consistency/0/1", "consistency/1/7"])
def test_what_was_not_signed_is_not_there(two_heads: list[LogHead], client: Client, path: str) -> None:
    assert client.get(f"/transparency/{path}").status_code == 404


def test_an_address_that_asks_too_often_is_refused(two_heads: list[LogHead], client: Client, settings: Any) -> None:
    settings.RATE_LIMIT_ANONYMOUS = "1/hour"
    client.get("/transparency")
    assert client.get("/transparency/keys").status_code == 429


def test_an_empty_log_has_no_head(client: Client) -> None:
    answer = client.get("/transparency")
    assert (answer.status_code, answer.content.splitlines()[0]) == (200, b"No head of this log is signed yet.")


def test_transactions_and_payouts_carry_their_leaves(api: Api) -> None:
    payout = new_payout(api)
    assert "leaves" not in made(api.get(f"/payouts/{payout}"))
    append.append()
    shown = {row["id"]: row["leaf"] for row in made(api.get("/balance_transactions/"))["data"]}
    assert len(shown) == Posting.objects.filter(account__in=("merchant_pending", "merchant_payable")).count()
    taken = made(api.get("/balance_transactions/", payout=payout))["data"]
    assert made(api.get(f"/payouts/{payout}"))["leaves"] == sorted({row["leaf"] for row in taken})
    assert made(api.get("/payouts/"))["data"][0]["leaves"] == sorted({row["leaf"] for row in taken})
    [part] = made(api.get(f"/payouts/{payout}/transactions"))["data"]
    assert part["leaf"] == shown[part["id"]] == made(api.get(f"/balance_transactions/{part['id']}"))["leaf"]


def test_the_pages_of_a_payout_carry_its_leaves(
    api: Api, shop: NewMerchant, admin_client: Client, settings: Any
) -> None:
    settings.ADMIN_MFA = False
    new_payout(api)
    append.append()
    payout = Payout.objects.get()
    leaves = with_leaves(Payout.objects.all(), payout.merchant_id, payout.livemode).get().leaves
    owner = signed_in(member(shop.merchant))
    for client, site in ((admin_client, "admin"), (owner, "merchant")):
        page = client.get(f"/{site}/payments/payout/{payout.pk}/change/").content.decode()
        assert f"Entries in the transparency log</dt> <dd>{', '.join(map(str, leaves))}<" in page


def test_each_transaction_has_its_proof(api: Api) -> None:
    made(api.post(f"/charges/{api.charge()['id']}/refund", {"amount": 2_500}))
    first = made(api.get("/balance_transactions/"))["data"][0]["id"]
    assert error_of(api.get(f"/proofs/{first}"))["code"] == "resource_missing"
    signed()
    for row in made(api.get("/balance_transactions/"))["data"]:
        proof = made(api.get(f"/proofs/{row['id']}"))
        _, line = books.check_proof(proof, keys())
        assert line[3:5] == [-row["amount"], row["currency"]]
        assert proof["leaf"] == row["leaf"]
        for change in (
            {"content": proof["content"].replace("PHP", "USD", 1)},
            {"salt": "00"},
            {"transaction": "txn_1"},
        ):
            with pytest.raises(verify.Fault):
                books.check_proof(proof | change, keys())


@pytest.mark.parametrize(("version", "lines"), [("kaha leaf 2", 1), ("kaha leaf 1", 2)])
def test_a_leaf_of_another_form_is_no_proof(version: str, lines: int) -> None:
    """Also where it is in a signed head: what its lines mean is not known."""
    opening = json.dumps(["journal", [["a-b"]]])
    line = [1, "merchant_pending", "capture", -100, "PHP", False, "2026-11-28T00:00:00.000000Z"]
    content = json.dumps([version, hashlib.sha256(opening.encode()).hexdigest(), [line] * lines])
    root = base64.b64encode(hashlib.sha256(b"\x00" + content.encode()).digest()).decode()
    head = signed_note(f"{origin()}\n1\n{root}\n2026-11-28T00:00:00.000000Z\n")
    proof = {"transaction": "txn_ab", "leaf": 0, "path": [], "salt": ""}
    with pytest.raises(verify.Fault, match="another version"):
        books.check_proof({**proof, "content": content, "opening": opening, "head": head}, keys())


def test_a_proof_of_one_says_nothing_of_another(api: Api) -> None:
    """It has the hashes of others alone, and the content of a leaf names neither merchant nor charge."""
    one, other = api.charge(), api.charge(amount=77_700_777)
    signed()
    [row, *_] = made(api.get("/balance_transactions/", charge=one["id"]))["data"]
    proof = json.dumps(made(api.get(f"/proofs/{row['id']}")))
    assert "77700777" not in proof
    assert other["id"].removeprefix("ch_") not in proof.replace("-", "")
    content = json.loads(proof)["content"]
    ids = Posting.objects.values_list("id", "journal", "merchant_id", "charge_id", "attempt_id")
    assert [each for row in ids for each in row if each and str(each) in content] == []


def test_another_merchants_transaction_has_no_proof(api: Api, other_api: Api) -> None:
    api.charge()
    signed()
    own = made(api.get("/balance_transactions/"))["data"][0]["id"]
    assert error_of(other_api.get(f"/proofs/{own}"))["code"] == "resource_missing"


def test_a_key_is_rolled_by_two_signatures(api: Api, settings: Any) -> None:
    api.charge()
    old = keys()
    settings.TRANSPARENCY_KEYS = f"t2:{base64.b64encode(bytes(range(32))).decode()},{settings.TRANSPARENCY_KEYS}"
    head = signed()
    [new, _] = keys()
    assert verify.read_head(head.note, old) == verify.read_head(head.note, [new])


def test_an_old_leaf_has_a_proof_by_a_key_that_came_later(api: Api, settings: Any) -> None:
    api.charge()
    signed()
    settings.TRANSPARENCY_KEYS = f"t2:{base64.b64encode(bytes(range(32))).decode()}"
    api.charge()
    head = signed()
    oldest = made(api.get("/balance_transactions/"))["data"][-1]
    proof = made(api.get(f"/proofs/{oldest['id']}"))
    found, _ = books.check_proof(proof, keys())
    assert found.size == head.size


@pytest.mark.django_db(transaction=True)
def test_an_export_is_in_the_audit_log_before_it_is_read_and_its_owners_alone(api: Api, tmp_path: Path) -> None:
    api.charge()
    file = tmp_path / "books.jsonl"

    def cut() -> Iterator[str]:
        assert AuditEntry.objects.filter(action=Action.EXPORTED).count() == 1
        yield "one line\n"
        raise OSError

    with patch("payments.domain.transparency.export.lines", cut), pytest.raises(OSError):
        call_command("export_books", file)
    assert file.stat().st_mode & 0o777 == 0o600


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.django_db(transaction=True)
def test_an_export_says_on_a_terminal_how_far_it_is(tmp_path: Path) -> None:
    shown, log = Terminal(), StringIO()
    for number, stderr in enumerate((shown, log)):
        call_command("export_books", tmp_path / str(number), stderr=stderr, stdout=StringIO())
    count = len((tmp_path / "0").read_text().splitlines())
    assert (shown.getvalue(), log.getvalue()) == (f"\r{count} lines\n", "")


def test_the_auditors_program_is_small_and_knows_nothing_of_kaha() -> None:
    text = "".join(path.read_text() for path in PROGRAM.glob("*.py"))
    assert 100 < len(text.splitlines()) <= 410
    imported = {
        line.split()[1].partition(".")[0] for line in text.splitlines() if line.startswith(("import ", "from "))
    }
    assert imported - set(sys.stdlib_module_names) == {"cryptography", "kaha_verify"}


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_the_auditors_program_checks_files(api: Api, two_heads: list[LogHead], tmp_path: Path) -> None:
    """By itself, in a process that has no path to kaha; an editor has put a mark before each text."""
    assert faults(*two_heads) == []
    row = made(api.get("/balance_transactions/"))["data"][0]
    proof = made(api.get(f"/proofs/{row['id']}"))
    files = {"books": "".join(exported()), "old": two_heads[0].note, "new": two_heads[1].note}
    files |= {"proof": json.dumps(proof), "damaged": json.dumps(proof | {"head": 1})}
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8-sig")
    key = heads.public_keys()[0]

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        program = (
            f"import sys; sys.path.append({str(PROGRAM.parent)!r}); from kaha_verify.main import main; sys.exit(main())"
        )
        command = [sys.executable, "-I", "-c", program, *arguments, "--key", key]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    done = run("books", "books", "--head", "old", "new")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Nothing was changed, removed or inserted" in done.stdout
    (tmp_path / "books").write_text((tmp_path / "books").read_text().replace("capture", "late", 1))
    done = run("books", "books", "--head", "new")
    assert (done.returncode, done.stdout) == (1, "")
    assert "is not what was logged" in done.stderr
    assert f"It moved {row['currency']} {-row['amount']} on merchant_" in run("proof", "proof").stdout
    assert run("proof", "damaged").returncode == 2
    assert run("heads", "old", "new").returncode == 1, "without a proof"
    assert run("heads", "old", "missing").returncode == 2
