"""npm's inspector is not installed with the suite: its test runs where INSPECTOR names the program."""

import os

import pytest

from tests.admin.conftest import operator as operator
from tests.cli.conftest import bare_terminal as bare_terminal
from tests.web.conftest import serve as serve
from tests.web.conftest import serve_with_pid as serve_with_pid

collect_ignore = [] if "INSPECTOR" in os.environ else ["test_inspector.py"]


@pytest.fixture(autouse=True)
def _commits(commits: None) -> None:
    """Have what is approved executed, as it is where a test has no transaction of its own."""
