import io
from collections.abc import Callable

import pytest
from django.core.management import call_command

Manage = Callable[..., str]


@pytest.fixture
def manage(db: None) -> Manage:
    """Return a function that runs a command of `manage.py` and returns its output."""

    def run(*arguments: object) -> str:
        output = io.StringIO()
        call_command(*map(str, arguments), stdout=output)
        return output.getvalue()

    return run
