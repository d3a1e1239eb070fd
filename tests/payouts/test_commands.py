"""Commands that set up payouts: a number is never among their arguments, and live accounts wait for a day."""

import io
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command

from payments.domain.merchants.merchants import NewMerchant
from payments.domain.payouts.schedules import number_of
from payments.domain.payouts.terms import Terms
from payments.models import AuditEntry, PayoutAccount, PayoutSchedule
from tests.payouts.setups import NUMBER

pytestmark = pytest.mark.django_db


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{NUMBER}\n"))


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command("merchant", *arguments, stdout=out)
    return out.getvalue()


def set_account(mode: str, bic: str = "BNORPHMM") -> str:
    return run("set-payout-account", "Sari Store", "PHP", "--mode", mode, "--holder", "Sari Store", "--bic", bic)


@pytest.mark.usefixtures("typed")
def test_an_account_is_set_with_its_number_from_standard_input(shop: NewMerchant) -> None:
    output = set_account("test")
    assert number_of(PayoutAccount.objects.get()) == NUMBER
    assert NUMBER not in output + str([*AuditEntry.objects.values()])


@pytest.mark.usefixtures("typed")
def test_an_account_of_live_mode_waits_for_a_day(shop: NewMerchant) -> None:
    set_account("live")
    account = PayoutAccount.objects.get()
    assert account.effective_at - account.created_at == timedelta(hours=24)


@pytest.mark.usefixtures("typed")
def test_a_wrong_bic_is_refused_with_a_message(shop: NewMerchant) -> None:
    with pytest.raises(CommandError, match="no BIC"):
        set_account("test", "BNOR")


def test_a_schedule_is_set_and_keeps_what_is_not_given(shop: NewMerchant) -> None:
    place = ("set-payout-schedule", "Sari Store", "PHP", "--mode", "test")
    run(*place, "--interval", "weekly", "--delay-days", "3", "--reserve-percent", "10", "--reserve-days", "30")
    run(*place, "--delay-days", "1")
    assert Terms.of(PayoutSchedule.objects.get()) == Terms("weekly", 1, 10, 30)
    with pytest.raises(CommandError, match="0 to 90"):
        run(*place, "--delay-days", "99")
    with pytest.raises(CommandError, match="pac_"):
        run(*place, "--way-out", "xendit")
