"""Every verb on a charge in every stage: what may be done is done, everything else is refused and changes nothing."""

from collections.abc import Callable
from typing import Any

import pytest

from payments import clock
from payments.ids import parse_id
from payments.models import Charge
from tests.client import CHALLENGED, DECLINED, Api, error_of

Make = Callable[[Api], dict[str, Any]]


def captured(api: Api) -> dict[str, Any]:
    return api.charge()


def settled(api: Api) -> dict[str, Any]:
    charge = api.charge()
    Charge.objects.filter(id=parse_id("ch", charge["id"])).update(settled_at=clock.now())
    return charge


def after(verb: str, make: Make, **body: Any) -> Make:
    def make_then_do(api: Api) -> dict[str, Any]:
        charge = make(api)
        api.post(f"/charges/{charge['id']}/{verb}", body)
        return charge

    return make_then_do


STAGES: dict[str, Make] = {
    "pending": lambda api: api.charge(CHALLENGED),
    "failed": lambda api: api.charge(DECLINED),
    "held": lambda api: api.held(),
    "captured": captured,
    "settled": settled,
    "part_refunded": after("refund", captured, amount=1),
    "part_captured": after("capture", lambda api: api.held(), amount=1),
    "refunded": after("refund", captured),
    "voided_hold": after("void", lambda api: api.held()),
    "voided_capture": after("void", captured),
}
VERBS = {"capture": {}, "void": {}, "refund": {}, "verify": {"confirmation_id": "12345", "otp": "123456"}}
LEGAL = {
    ("held", "capture"): "succeeded",
    ("held", "void"): "voided",
    ("captured", "void"): "voided",
    ("captured", "refund"): "refunded",
    ("settled", "refund"): "refunded",
    ("part_refunded", "refund"): "refunded",
    ("part_captured", "refund"): "refunded",
    ("part_captured", "void"): "voided",
}
REFUSALS = {
    "capture": "charge_not_capturable",
    "void": "charge_not_voidable",
    "refund": "charge_not_refundable",
    "verify": "charge_not_verifiable",
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("stage", STAGES)
def test_a_verb_is_done_or_refused_as_the_transition_table_says(api: Api, stage: str, verb: str) -> None:
    charge = STAGES[stage](api)
    before = api.read(charge)

    response = api.post(f"/charges/{charge['id']}/{verb}", VERBS[verb])

    if (stage, verb) in LEGAL:
        assert response.status_code == 200, response.content
        assert api.read(charge)["status"] == LEGAL[stage, verb]
        assert response.json() == api.read(charge)
    else:
        assert response.status_code == 409
        assert error_of(response)["code"] == REFUSALS[verb]
        assert error_of(response)["charge_id"] == charge["id"]
        assert api.read(charge) == before
