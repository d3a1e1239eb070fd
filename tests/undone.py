"""What a test does in the database, undone at its end."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction


@contextmanager
def undone() -> Iterator[None]:
    """Roll back what is done within, and nothing else."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
