"""Receivers of the suite are on this machine."""

import pytest


@pytest.fixture(autouse=True)
def _loopback_may_be_called(settings) -> None:
    settings.NOTIFY_ALLOW_LOOPBACK = True
