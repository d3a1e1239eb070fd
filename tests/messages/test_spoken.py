"""What is said of a payment on the telephone."""

import pytest

from payments.domain.messages.spoken import spoken
from payments.models import Charge
from tests.factories import ChargeFactory

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("status", Charge.Status.values)
def test_something_is_said_of_a_payment_in_every_status(status: str) -> None:
    charge = ChargeFactory()
    charge.status = status
    assert spoken(charge, [], [], "en")
