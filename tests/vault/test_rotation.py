"""Key rotation, on real commits, because data keys use their own connections."""

import io
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from threading import Event
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from payments import clock, vault
from payments.domain.cards.card_data import card_data
from payments.domain.maintenance import key_rotation, reseal
from payments.domain.maintenance.data_keys import DatabaseKeyStore
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.payouts.schedules import number_of
from payments.models import Card, CvcKey, DataKey
from payments.vault import Purpose, VaultUnavailable, WrappedKey
from tests.client import APPROVED, Api, made
from tests.payouts.stories import give_account
from tests.staff.sign_in import PASSWORD, Visitor, app_of

pytestmark = pytest.mark.django_db(transaction=True)

OLD = "old:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
NEW = "new:ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA="


@pytest.fixture(autouse=True)
def _old_key(no_keys: None, settings: Any) -> None:
    settings.VAULT_KEYS = OLD


def forget() -> None:
    """Empty the cache of data keys, as in a new process."""
    vault.use_store(DatabaseKeyStore())


def rotate(*arguments: str) -> dict[str, int]:
    """Run the command; return the numbers that it prints at its end."""
    output = io.StringIO()
    call_command("rotate_vault_keys", *arguments, stdout=output)
    return {line.rpartition("  ")[0].strip(): int(line.split()[-1]) for line in output.getvalue().splitlines()}


def opened() -> list[tuple[str, str | None]]:
    """Return the number and CVC of each card that still has them, oldest first."""
    cards = Card.objects.select_related("source").filter(sealed_number__isnull=False).order_by("id")
    return [(data.number, data.cvc) for data in map(card_data, cards)]


def test_after_rewrapping_the_old_key_is_not_needed(settings: Any, api: Api) -> None:
    api.source()
    settings.VAULT_KEYS = f"{NEW},{OLD}"

    assert rotate()["data keys wrapped by local:new"] == 3

    settings.VAULT_KEYS = NEW
    forget()
    assert opened() == [(APPROVED, "123")]


def test_an_old_dump_does_not_open_once_the_old_key_is_destroyed(settings: Any, api: Api) -> None:
    api.source()
    dump = [(model, list(model.objects.all())) for model in (Card, DataKey, CvcKey)]
    settings.VAULT_KEYS = f"{NEW},{OLD}"
    rotate()
    settings.VAULT_KEYS = NEW

    for model, rows in dump:
        model.objects.all().delete()
        model.objects.bulk_create(rows)
    forget()

    with pytest.raises(VaultUnavailable, match="local:old"):
        opened()


def test_numbers_of_bank_accounts_are_sealed_again(shop: NewMerchant) -> None:
    account = give_account(shop.merchant, "000123456789")
    old = DataKey.objects.get(purpose=Purpose.SECRET)
    rotate("--re-encrypt")
    account.refresh_from_db()
    assert not reseal.is_any_sealed_with(old)
    assert number_of(account) == "000123456789"


def test_a_retired_data_key_is_destroyed_when_nothing_needs_it(api: Api) -> None:
    api.source()
    old = set(DataKey.objects.values_list("id", flat=True))

    assert rotate("--re-encrypt")["data keys retired and not destroyed yet"] == 2
    assert key_rotation.finish() == 0, "a process may still be sealing with it"
    DataKey.objects.filter(id__in=old).update(retired_at=an_hour_ago())
    assert key_rotation.finish() == 0, "a process may just have read what it sealed"
    DataKey.objects.filter(id__in=old).update(emptied_at=an_hour_ago())
    assert key_rotation.finish() == 2

    forget()
    assert {bytes(key.wrapped) for key in DataKey.objects.filter(id__in=old)} == {b""}
    assert opened() == [(APPROVED, "123")]


def test_operators_sign_in_once_every_data_key_is_destroyed(settings: Any, api: Api) -> None:
    settings.ADMIN_MFA = True
    api.source()
    ana, visitor = User.objects.create_superuser("ana", password=PASSWORD), Visitor()
    app_of(ana)
    ended = dict.fromkeys(("retired_at", "emptied_at", "destroyed_at"), an_hour_ago())
    DataKey.objects.update(wrapped=b"", **ended)
    forget()
    visitor.sign_in(ana)
    assert visitor.is_in()


def test_a_late_value_of_a_retired_key_is_resealed_before_its_destruction(api: Api) -> None:
    api.source()
    slow = Card.objects.get().sealed_number
    rotate("--re-encrypt")
    Card.objects.update(sealed_number=slow)
    DataKey.objects.filter(retired_at__isnull=False).update(retired_at=an_hour_ago(), emptied_at=an_hour_ago())

    assert key_rotation.finish() == 1, "that of secrets"

    assert Card.objects.get().sealed_number != slow
    assert DataKey.objects.get(purpose="card", retired_at__isnull=False).emptied_at is None
    assert opened() == [(APPROVED, "123")]


def test_an_interrupted_rotation_resumes(api: Api) -> None:
    for _ in range(5):
        api.source()
    key_rotation.retire_data_keys()
    numbers = reseal.COLUMNS[0]
    assert next(reseal.reseal(numbers, batch=2)) == 2
    assert reseal.stale(numbers).count() == 3

    rotate("--re-encrypt")

    assert reseal.stale(numbers).count() == 0
    assert DataKey.objects.filter(purpose="card").count() == 2, "the second run retired nothing"
    assert len(opened()) == 5


def test_rotation_does_not_wait_for_a_locked_card(api: Api) -> None:
    busy, free = api.source(), api.source()
    assert busy < free
    key_rotation.retire_data_keys()
    with transaction.atomic():
        Card.objects.select_for_update().order_by("id").first()
        with ThreadPoolExecutor(1) as thread:
            assert thread.submit(on_its_own, reseal.reseal_some).result() >= 2
    assert reseal.stale(reseal.COLUMNS[0]).count() == 1
    assert reseal.reseal_some() == 1


class DestroyingStore(DatabaseKeyStore):
    """A store that destroys every number when a key to seal with is read: between a batch's read and its write."""

    def newest(self, purpose: Purpose, since: datetime) -> WrappedKey | None:
        Card.objects.update(sealed_number=None, number_expires_at=None)
        return super().newest(purpose, since)


def test_a_number_that_is_destroyed_meanwhile_stays_destroyed(api: Api) -> None:
    api.source()
    key_rotation.retire_data_keys()
    vault.use_store(DestroyingStore())

    assert sum(reseal.reseal(reseal.COLUMNS[0])) == 1

    assert Card.objects.get().sealed_number is None


def test_a_damaged_value_keeps_its_key_and_does_not_stop_the_others(api: Api) -> None:
    api.source()
    sealed = bytearray(Card.objects.get().sealed_number or b"")
    sealed[-1] ^= 1
    Card.objects.update(sealed_number=bytes(sealed))
    api.source()

    assert rotate("--re-encrypt")["values still sealed with old keys"] == 1

    DataKey.objects.filter(retired_at__isnull=False).update(retired_at=an_hour_ago())
    key_rotation.finish()
    assert DataKey.objects.get(purpose="card", retired_at__isnull=False).emptied_at is None


def test_without_the_old_key_it_says_so_and_changes_nothing(settings: Any, api: Api) -> None:
    api.source()
    settings.VAULT_KEYS = NEW
    before = list(DataKey.objects.order_by("id").values())
    with pytest.raises(CommandError, match="local:old"):
        rotate()
    assert list(DataKey.objects.order_by("id").values()) == before


@pytest.mark.long
def test_rotation_causes_no_error_in_requests(settings: Any, api: Api) -> None:
    over, statuses = Event(), Counter()

    def trade(seed: int) -> Counter[int]:
        mine, chance = Api(api.key), random.Random(seed)
        seen: Counter[int] = Counter()
        while not over.is_set():
            card = {"number": APPROVED, "name": "Juan", "exp_month": "12", "exp_year": "2039", "cvc": "123"}
            source = mine.post("/sources/", {"type": "card", "card": card})
            order = {"amount": 100, "currency": "PHP", "source": made(source)["id"], "description": "Rice"}
            seen[source.status_code] += 1
            if chance.random() < 0.8:
                seen[mine.post("/charges/", order).status_code] += 1
        return seen

    for _ in range(20):
        api.source()
    with ThreadPoolExecutor(3) as threads:
        trading = [threads.submit(on_its_own, lambda seed=seed: trade(seed)) for seed in range(3)]
        try:
            settings.VAULT_KEYS = f"{NEW},{OLD}"
            for arguments in ([], ["--re-encrypt"], []):
                rotate(*arguments)
        finally:
            over.set()
        for each in trading:
            statuses += each.result()

    assert set(statuses) == {200, 201}
    settings.VAULT_KEYS = NEW
    forget()
    assert set(opened()) == {(APPROVED, "123")}


def on_its_own(do: Any) -> Any:
    """Return the result of `do` on a connection of this thread."""
    try:
        return do()
    finally:
        connection.close()


def an_hour_ago() -> datetime:
    return clock.now() - timedelta(hours=1)
