import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, OutputWrapper

from payments.health.examination import Examination, examine


class Command(BaseCommand):
    help = (
        "Says what is wrong with the service and what to do about it. Exits with status 1 if anything is. "
        "The back office has the same on its page On call."
    )

    def handle(self, **_: Any) -> None:
        examination = examine()
        write(examination, self.stdout)
        if examination.wrong:
            sys.exit(1)


def write(examination: Examination, output: OutputWrapper) -> None:
    """Write what is wrong with its section of the guide, and the names of what is in order."""
    for check, found in examination.wrong:
        output.write(f"{check.title}: see {settings.PUBLIC_URL}{check.guide}")
        for finding in found:
            output.write(f"  {'URGENT' if finding.urgent else 'wrong '}  {finding.what}")
            output.write(f"          {finding.do}")
    output.write(f"In order: {', '.join(check.title for check in examination.in_order) or 'nothing'}.")
