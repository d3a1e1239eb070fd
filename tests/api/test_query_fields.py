"""What a query's texts mean."""

from datetime import UTC, datetime
from typing import Any

import pytest

from payments.api.validation.fields import (
    StrictField,
)
from payments.api.validation.query_fields import QueryBoolean, QueryInteger, QueryMoment
from tests.api.test_fields import code_of


@pytest.mark.parametrize(
    ("field", "value", "result"),
    [
        (QueryInteger(min_value=1, max_value=100), "020", 20),
        (QueryInteger(min_value=0, max_value=100), "0" * 1000, 0),
        (QueryBoolean(), "true", True),
        (QueryBoolean(), "false", False),
        (QueryMoment(), "2026-11-21", datetime(2026, 11, 21, tzinfo=UTC)),
        (QueryMoment(), "2026-11-21T01:43", datetime(2026, 11, 21, 1, 43, tzinfo=UTC)),
        (QueryMoment(), "2026-11-21T01:43:00.123456Z", datetime(2026, 11, 21, 1, 43, 0, 123456, tzinfo=UTC)),
        (QueryMoment(), "2026-11-21T01:43:00+08:00", datetime(2026, 11, 20, 17, 43, tzinfo=UTC)),
    ],
)
def test_query_texts_become_values(field: StrictField, value: str, result: Any) -> None:
    assert field.run_validation(value) == result


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        *(
            (QueryInteger(min_value=1, max_value=100), text, "invalid_type")
            for text in ["", "1.0", "-", "--1", "٣", " 1", "x"]
        ),
        (QueryInteger(min_value=1, max_value=100), "101", "too_big"),
        *((QueryInteger(min_value=1, max_value=100), text, "too_small") for text in ["0", "-1", "-100"]),
        (QueryInteger(min_value=1, max_value=100), "9" * 5000, "invalid_type"),
        *((QueryBoolean(), text, "invalid_type") for text in ["True", "1", "", "yes"]),
        *(
            (QueryMoment(), text, "invalid_moment")
            for text in [
                "",
                "now",
                "1795225380",
                "2026-13-01",
                "2026-02-30T00:00:00Z",
                "2026-11-21 01:43:00",
                "2026-11-21T25:00:00Z",
                "0000-01-01",
                "9999-12-31T23:59:59-12:00",
                "0001-01-01T00:00:00+14:00",
                "2026-11-21T01:43:00+99:00",
            ]
        ),
    ],
)
def test_query_texts_that_mean_nothing_are_refused(field: StrictField, value: str, code: str) -> None:
    assert code_of(field, value) == code
