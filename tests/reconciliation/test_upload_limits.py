"""How much of operators' reports is kept: few that wait, so much a day, and none for longer than a day."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User

from payments import clock
from payments.domain.reconciliation import uploads
from payments.domain.reconciliation.uploads import TooMany
from payments.models import ReportUpload
from tests.reconciliation.test_uploads import HEAD, submit


@pytest.fixture
def operator(db: None) -> User:
    return User.objects.create(username="maria")


def test_few_reports_wait_at_a_time(operator: User) -> None:
    for _ in range(uploads.MOST_WAITING):
        submit(HEAD, operator)
    with pytest.raises(TooMany):
        submit(HEAD, operator)


def test_one_operator_sends_so_much_in_a_day_and_no_more(operator: User) -> None:
    submit(HEAD, operator)
    sent = uploads.BYTES_A_DAY - len(HEAD)
    ReportUpload.objects.update(state="refused", sealed_content=None, due_at=None, size=sent)
    submit(HEAD, operator)
    with pytest.raises(TooMany, match=r"512 MiB in a day.*tomorrow"):
        submit(HEAD, operator)
    with clock.at(clock.now() + timedelta(days=1, seconds=1)):
        submit(HEAD, operator)


def test_a_report_nobody_could_read_is_destroyed_after_a_day(operator: User) -> None:
    upload = submit(HEAD, operator)
    with clock.at(upload.created_at + timedelta(hours=23)):
        assert uploads.delete_expired() == 0
    with clock.at(upload.created_at + timedelta(hours=25)):
        assert uploads.delete_expired() == 1
    upload.refresh_from_db()
    assert (upload.sealed_content, upload.fault) == (None, "No worker could read it within a day.")
