"""What tests of scheduled files do: save a view with a schedule, let it come, and get its file."""

from datetime import UTC, datetime
from typing import Any

from django.test import Client

from payments import clock
from payments.admin.lists import schedules
from payments.models import FileSchedule, SentFile
from payments.sweeps import in_turn

OFFICE, SITE = "/admin/payments", "/merchant/payments"
PAST = datetime(2020, 1, 1, tzinfo=UTC)


def save(client: Client, base: str = OFFICE, model: str = "charge", **form: str) -> FileSchedule:
    """Save a view with a schedule; return the schedule."""
    client.post(f"{base}/{model}/saveview/?mode=test", {"name": "Mine", "query": "", "every": "daily"} | form)
    return FileSchedule.objects.latest("pk")


def come(schedule: FileSchedule) -> FileSchedule:
    """Let the schedule be due, and a worker run; return it as it then is."""
    FileSchedule.objects.filter(pk=schedule.pk).update(due_at=clock.now())
    in_turn._failures.clear()
    schedules.send_due()
    return FileSchedule.objects.get(pk=schedule.pk)


def act(client: Client, schedule: FileSchedule, act: str, base: str = OFFICE, **form: object) -> Any:
    return client.post(f"{base}/fileschedule/{schedule.pk}/{act}/", {"sent": 1} | form)


def got(client: Client, schedule: FileSchedule, base: str = OFFICE) -> str:
    """Return the newest file, "" where the person does not get it."""
    answer = act(client, schedule, "download", base, file=SentFile.objects.latest("pk").pk)
    return answer.getvalue().decode("utf-8-sig") if answer.streaming else ""


def raising(error: Exception) -> Any:
    def fail(*_: Any) -> Any:
        raise error

    return fail


def asked_now(schedule: FileSchedule) -> Any:
    FileSchedule.objects.update(due_at=PAST)
    return FileSchedule.objects.filter(pk=schedule.pk).select_related("view__user", "merchant")
