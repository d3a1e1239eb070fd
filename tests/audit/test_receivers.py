"""The signal receivers of the audit log in a process of its own, which imports what the apps import and no test."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import os, django
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()
from django.contrib.auth.models import User
from django.db.models import signals
from payments.models import MerchantAccess
print(signals.{signal}.has_listeners({model}))
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("signal", "model"),
    [
        ("pre_save", "User"),
        ("post_save", "MerchantAccess"),
        ("post_delete", "MerchantAccess"),
        ("m2m_changed", "User.groups.through"),
    ],
)
def test_every_process_that_starts_the_apps_records_changes_of_accounts(signal: str, model: str) -> None:
    command = [sys.executable, "-c", SCRIPT.format(signal=signal, model=model)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout == "True\n"
