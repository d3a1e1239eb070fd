"""A search of every row of the database for the digits of the marked card number, whatever is between them."""

from collections.abc import Iterator

from django.apps import apps
from django.contrib.sessions.models import Session
from django.db import connection

from payments.sensitive_data.plain_text import plain, unescaped
from tests.canaries.misplaced import NUMBER


def card_numbers_kept() -> list[tuple[str, str]]:
    """Return the rows that have the number, each with the name of its table."""
    return [(table, text) for table, text in _rows() if is_in(text)]


def is_in(text: str) -> bool:
    """Return whether the digits of the marked number are in `text`, as it is or unescaped."""
    return any(NUMBER in "".join(filter(str.isdecimal, plain(read))) for read in (text, unescaped(text)))


def _rows() -> Iterator[tuple[str, str]]:
    for model in apps.get_models(include_auto_created=True):
        if model._meta.managed and not model._meta.proxy:
            with connection.cursor() as cursor:
                table = model._meta.db_table
                cursor.execute(f'SELECT t::text FROM "{table}" t')
                yield from ((table, text) for (text,) in cursor)
    yield from (("a session", str(session.get_decoded())) for session in Session.objects.all())
