"""What the database lets no charge, attempt, source or answer be."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from payments.models import Attempt, Charge, IdempotencyRecord, Source
from tests.client import Api

WRONG: list[tuple[Any, str, dict[str, Any]]] = [
    (Charge, "charge_amount_in_bounds", {"amount": 100_000_000_000}),
    (Charge, "charge_has_nothing_negative", {"version": -1}),
    (Charge, "charge_has_nothing_negative", {"fee": -1}),
    (Charge, "charge_has_nothing_negative", {"fee_fixed": -1}),
    (Charge, "charge_has_nothing_negative", {"fee_basis_points": -1}),
    (Charge, "charge_has_nothing_negative", {"hold_extended_days": -1}),
    (Charge, "charge_has_nothing_negative", {"amount_refunded": -1}),
    (Charge, "charge_has_nothing_negative", {"amount_disputed": -1}),
    (Charge, "charge_captured_within_amount", {"amount_captured": 10_001}),
    (Charge, "charge_refunded_within_captured", {"amount_refunded": 10_001, "status": "voided", "settle_due_at": None}),
    (Charge, "charge_disputed_within_captured", {"amount_disputed": 10_001}),
    (Charge, "charge_captured_has_amount", {"captured": False}),
    (Charge, "charge_flags_match_status", {"status": "pending"}),
    (Charge, "charge_flags_match_status", {"status": "refunded"}),
    (Charge, "charge_flags_match_status", {"status": "odd"}),
    (Charge, "charge_flags_match_status", {"authorized": True}),
    (Charge, "charge_flags_match_status", {"amount_refunded": 10_000}),
    (Charge, "charge_failed_says_why", {"failure_data": {}}),
    (Charge, "charge_operation_is_known", {"operation": "captur"}),
    (Charge, "charge_hold_extended_in_bounds", {"hold_extended_days": 22}),
    (Charge, "charge_fee_within_captured", {"fee": 10_001}),
    (Charge, "charge_settles_what_it_took", {"status": "voided"}),
    (Attempt, "attempt_is_due_or_done", {"state": "open"}),
    (Attempt, "attempt_is_due_or_done", {"state": "odd"}),
    (Attempt, "attempt_is_due_or_done", {"outcome": ""}),
    (Attempt, "attempt_is_due_or_done", {"outcome": "NotFound", "tries": 2}),
    (Attempt, "attempt_extends_by_days", {"kind": "extend"}),
    (Attempt, "attempt_extends_by_days", {"kind": "extend", "hold_days": 0}),
    (Attempt, "attempt_has_nothing_negative", {"tries": -1}),
    (Attempt, "attempt_has_nothing_negative", {"answer_status": -1}),
    (Attempt, "attempt_passed_on_moved_no_money", {"passed_on": True}),
    (Source, "source_type_is_known", {"type": "cards"}),
    (Source, "source_version_not_negative", {"version": -1}),
    (Source, "source_vaulted_is_used", {"used": False, "vaulted": True}),
    (IdempotencyRecord, "idempotency_answer_is_whole", {"status": None}),
    (IdempotencyRecord, "idempotency_answer_is_whole", {"body": None}),
]


@pytest.fixture
def captured(api: Api) -> None:
    """Store one captured charge of 10,000 with its source, attempt and answer."""
    api.post("/charges/", {"amount": 10_000, "source": api.source(), "description": "Halo-halo"}, key="order-1")


@pytest.mark.usefixtures("captured")
@pytest.mark.parametrize(("model", "name", "values"), WRONG, ids=[f"{name} {values}" for _, name, values in WRONG])
def test_what_must_never_be_is_refused(model: Any, name: str, values: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError, match=f'"{name}"'), transaction.atomic():
        model.objects.update(**values)
