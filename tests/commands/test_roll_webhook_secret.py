import re

import pytest
from django.core.management import CommandError

from payments.domain.merchants.merchants import NewMerchant, reveal_webhook_secret
from payments.models import WebhookSecret
from tests.commands.conftest import Manage

SECRET = re.compile(r"^whsec_(test|live) +(whsec_\S+)$", re.MULTILINE)


def test_the_new_secrets_of_both_modes_are_shown_once(manage: Manage, shop: NewMerchant) -> None:
    output = manage("merchant", "roll-secret", "Sari Store", "--overlap", "24h")
    assert dict(SECRET.findall(output)) == {
        "test": reveal_webhook_secret(shop.merchant.id, False),
        "live": reveal_webhook_secret(shop.merchant.id, True),
    }
    assert output.count("older one   signs too until 2") == 2
    assert "shown only this once" in output


def test_one_mode_alone_can_be_rolled(manage: Manage, shop: NewMerchant) -> None:
    output = manage("merchant", "roll-secret", "Sari Store", "--mode", "live")
    assert SECRET.findall(output) == [("live", reveal_webhook_secret(shop.merchant.id, True))]
    assert reveal_webhook_secret(shop.merchant.id, False) == shop.webhook_secrets["whsec_test"]


def test_without_overlap_no_older_one_is_left(manage: Manage, shop: NewMerchant) -> None:
    assert "older one" not in manage("merchant", "roll-secret", "Sari Store", "--overlap", "0h")


@pytest.mark.parametrize("arguments", [["Nobody"], ["Sari Store", "--overlap=1w"], ["Sari Store", "--mode=prod"]])
def test_what_cannot_be_read_rolls_nothing(manage: Manage, shop: NewMerchant, arguments: list[str]) -> None:
    with pytest.raises(CommandError):
        manage("merchant", "roll-secret", *arguments)
    assert WebhookSecret.objects.count() == 2
