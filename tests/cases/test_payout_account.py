"""Bank accounts that a spreadsheet or a prank changed are refused at their field, where they are typed."""

import json
import re
from pathlib import Path

import pytest
from django.test import Client

from payments.domain.merchants.merchants import NewMerchant
from payments.models import PayoutAccount
from tests.admin.actions import act
from tests.operators.factories import person

CASES = json.loads(Path(__file__).with_name("payout-account.json").read_text())
FIELD_WITH_ERROR = re.compile(r'class="errorlist" id="id_(\w+)_error"')


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["expected"])
def test_a_bank_account_is_refused_at_its_field(case: dict[str, str], shop: NewMerchant, client: Client) -> None:
    client.force_login(person("admin", "administrator"))
    typed = {name: case[name] for name in ("bic", "holder", "number")}
    page = act(client, shop.merchant, "set_payout_account", mode="test", currency="PHP", **typed)
    fields = FIELD_WITH_ERROR.findall(page.content.decode())
    assert [f"refused at the field {name}" for name in fields] == [case["expected"]]
    assert not PayoutAccount.objects.exists()
