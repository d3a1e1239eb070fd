"""Rules of a row as one constraint."""

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction
from psycopg.errors import CheckViolation

from payments.db.checks import RowRules
from payments.models import Attempt, Charge
from tests.client import Api
from tests.factories import ChargeFactory

pytestmark = pytest.mark.django_db
[RULES] = [each for each in Charge._meta.constraints if isinstance(each, RowRules)]


def overdraw() -> int:
    return Charge.objects.update(amount_captured=1_000_000)


def test_an_error_names_table_and_rule() -> None:
    ChargeFactory(is_captured=True)
    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        overdraw()
    cause = caught.value.__cause__
    assert isinstance(cause, CheckViolation)
    assert (cause.diag.table_name, cause.diag.constraint_name) == ("payments_charge", "charge_captured_within_amount")


def test_a_rule_whose_condition_is_null_holds(api: Api) -> None:
    api.charge()
    assert Attempt.objects.update(answer_status=None) == 1


def test_a_form_finds_what_the_database_would_refuse() -> None:
    charge = ChargeFactory(is_captured=True)
    charge.amount_captured = charge.amount + 1
    with pytest.raises(ValidationError, match="charge_captured_within_amount"):
        charge.validate_constraints()


def test_rules_can_be_dropped_and_made_again() -> None:
    ChargeFactory(is_captured=True)
    with transaction.atomic():
        with connection.schema_editor() as editor:
            editor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            editor.remove_constraint(Charge, RULES)
        assert overdraw() == 1
        transaction.set_rollback(True)
    with connection.schema_editor() as editor:
        editor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        editor.remove_constraint(Charge, RULES)
        editor.add_constraint(Charge, RULES)
    with pytest.raises(IntegrityError, match="charge_captured_within_amount"), transaction.atomic():
        overdraw()


def test_rules_that_say_the_same_are_equal() -> None:
    assert RULES.clone() == RULES
    assert RowRules(name=RULES.name, rules={}) != RULES
