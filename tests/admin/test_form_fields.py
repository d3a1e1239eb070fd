"""The office reads a day and a number in one form, so that none is taken for another."""

from collections.abc import Iterator
from datetime import date

import pytest
from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError

from payments.admin.form_fields import DayField, WholeNumberField

DAYS = ["03/04/2026", "3.4.2026", "2026-4-3", "20260403", "2026-W14-5", "2026-02-30", "٢٠٢٦-٠٤-٠٣", "1969-12-31"]
NUMBERS = [
    "1_000",
    " 1000",
    "1000 ",
    "1,000",
    "1000.0",
    "+1000",
    "-1",
    "1e3",
    "0x10",
    "１０００",
    "١٠",
    "9" * 19,
    "many",
]


@pytest.mark.parametrize("text", DAYS)
def test_a_day_that_could_be_another_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        DayField().clean(text)


def test_a_day_is_read_as_it_is_written() -> None:
    assert DayField().clean("2026-03-04") == date(2026, 3, 4)


@pytest.mark.parametrize("text", NUMBERS)
def test_a_number_in_anything_but_digits_is_refused(text: str) -> None:
    with pytest.raises(ValidationError, match="digits alone"):
        WholeNumberField().clean(text)


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("014", 14), ("1000", 1000)])
def test_digits_are_read_as_they_are_written(text: str, number: int) -> None:
    assert WholeNumberField().clean(text) == number


def test_every_day_and_number_of_the_office_is_read_so() -> None:
    lenient = {forms.DateField, forms.DateTimeField, forms.IntegerField, forms.FloatField, forms.DecimalField}
    admin.autodiscover()
    found = [
        f"{form.__qualname__}.{name}"
        for form in _forms_below(forms.BaseForm)
        if form.__module__.startswith(("payments.", "customers."))
        for name, field in form.base_fields.items()
        if type(field) in lenient
    ]
    assert found == []


def _forms_below(kind: type[forms.BaseForm]) -> Iterator[type[forms.Form]]:
    for form in kind.__subclasses__():
        if hasattr(form, "base_fields"):
            yield form  # type: ignore[misc]  # declared by its metaclass
        yield from _forms_below(form)
