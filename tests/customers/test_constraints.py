"""What the database itself refuses."""

from typing import Any

import pytest
from django.db import IntegrityError

from customers.models import Customer, CustomerSource
from payments import clock
from payments.ids import parse_id
from tests.client import Api
from tests.customers.factories import attach, new_customer


@pytest.mark.parametrize("changes", [{"deleted_at": clock.now()}, {"email": ""}, {"description": ""}])
def test_a_customer_is_either_whole_or_erased(maria: dict[str, Any], changes: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError, match="customer_nothing_personal_once_deleted"):
        Customer.objects.update(**changes)


def test_a_source_is_tied_to_one_customer_ever(api: Api, maria: dict[str, Any]) -> None:
    source = parse_id("src", attach(api, maria))
    attach(api, new_customer(api))

    with pytest.raises(IntegrityError, match="source_id"):
        CustomerSource.objects.update(source=source)
