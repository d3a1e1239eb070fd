"""The one place where texts on their way into columns are looked at: of the ORM, and of guarded writes."""

import json
import re
from functools import cache
from typing import Any, TypeAlias

from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import SuspiciousOperation, ValidationError
from django.db import models
from django.utils.translation import gettext

from payments.db.texts.declared import DECLARED, OF_LINES, Rule
from payments.names import NOT_IN_ONE_LINE
from payments.sensitive_data.card_numbers import SHORTEST, holds_card_number, holds_taken_card
from payments.sensitive_data.redaction import HIDDEN, without_card_numbers

Field: TypeAlias = "models.Field[Any, Any]"
TEXTS = (models.CharField, models.TextField, models.JSONField, models.BinaryField, ArrayField)
# What PostgreSQL's texts cannot hold: NUL, and one half of a character of UTF-16.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
# At the end of a full column, where a library or a server may have cut a number, whose first digits are not found. It
# begins where no other digit leads to it, so that each stretch of digits is looked at once.
_CUT_NUMBER = re.compile(r"(?<![0-9])(?<![0-9][ \-])[0-9](?:[ \-]?[0-9]){11,}\Z")
REPLACEMENT = "\ufffd"
CARD_NUMBER = "This looks like it holds a card number. Take it out; a card's last 4 digits may stay."
LINES = "This holds a line end or another character that cannot be seen. Take it out."
UNSTORABLE = "This holds a character that cannot be stored, such as NUL. Take it out."


class TextRefused(SuspiciousOperation):
    """A text was about to be stored that must not be; the message says which column, and never quotes the text."""


def is_storable(text: str) -> bool:
    """Return whether PostgreSQL takes the text: it holds no NUL and no half of a character."""
    return _UNSTORABLE.search(text) is None


def storable(text: str) -> str:
    """Return `text` with U+FFFD for each character that PostgreSQL does not take, so that nothing equals it."""
    return _UNSTORABLE.sub(REPLACEMENT, text)


def no_card_number(value: Any) -> None:
    """Raise ValidationError if a value of a column or a form holds a card number, or cannot be stored."""
    if problem := _problem(value):
        raise ValidationError(gettext(problem), "secret")


def one_line(value: Any) -> None:
    """Raise ValidationError if a text has a line end, or another character that mails and pages do not show."""
    if isinstance(value, str) and NOT_IN_ONE_LINE.search(value):
        raise ValidationError(gettext(LINES), "lines")


def is_one_line(field: Field) -> bool:
    """Return whether the texts of a column that refuses card numbers are of one line."""
    return isinstance(field, models.CharField) and field.name not in OF_LINES


@cache
def rule_of(field: Field) -> Rule | None:
    """Return how a column keeps card numbers out; None where it can hold none."""
    if not isinstance(field, TEXTS):
        return None
    declared = DECLARED.get(field.model._meta.label, {})
    if found := next((rule for rule, names in declared.items() if field.name in names.split()), None):
        return found
    # Shorter than the shortest card number.
    is_short = isinstance(field, models.CharField) and (field.max_length or SHORTEST) < SHORTEST
    return None if is_short else Rule.REFUSED


def looks_at(field: Field) -> bool:
    """Return whether writes of this column look at its value."""
    return rule_of(field) in (Rule.REFUSED, Rule.HIDDEN)


def kept(field: Field, value: Any) -> Any:
    """Return what to store of `value`, which may be an expression. Raises TextRefused."""
    rule = rule_of(field)
    if rule not in (Rule.REFUSED, Rule.HIDDEN) or value is None:
        return value
    if hasattr(value, "resolve_expression"):
        for part in value.flatten() if hasattr(value, "flatten") else ():
            if isinstance(part, models.Value):
                part.value = kept(field, part.value)
        return value
    if rule is Rule.HIDDEN:
        is_full = isinstance(value, str) and len(value) == field.max_length
        return _hidden(_CUT_NUMBER.sub(HIDDEN, value) if is_full else value)
    problem = _problem(value)
    if not problem and is_one_line(field) and NOT_IN_ONE_LINE.search(value):
        problem = LINES
    if problem:
        raise TextRefused(f"{field.model._meta.verbose_name}, {field.verbose_name}: {problem}")
    return value


def check_forms() -> None:
    """Have the forms that are made from models refuse what their columns do."""
    from django.apps import apps

    for model in apps.get_models():
        for field in model._meta.local_concrete_fields:
            if rule_of(field) is Rule.REFUSED:
                field.validators += [no_card_number, *([one_line] if is_one_line(field) else [])]


def _problem(value: Any) -> str:
    text = _text_of(value)
    if holds_taken_card(text):
        return CARD_NUMBER
    # JSON escapes what PostgreSQL would not take, so all texts in it are looked at.
    return "" if is_storable(text) else UNSTORABLE


def _text_of(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (bytes, memoryview)):
        return bytes(value).decode("latin-1")
    return json.dumps(value, ensure_ascii=False, default=str).replace("\\u0000", "\x00")


def _hidden(value: Any) -> Any:
    if isinstance(value, str):
        return without_card_numbers(storable(value))
    if isinstance(value, (bytes, memoryview)):
        text = bytes(value).decode("latin-1")
        return without_card_numbers(text).encode("latin-1") if holds_card_number(text) else value
    if isinstance(value, dict):
        return {_hidden(name): _hidden(inner) for name, inner in value.items()}
    return list(map(_hidden, value)) if isinstance(value, (list, tuple)) else value
