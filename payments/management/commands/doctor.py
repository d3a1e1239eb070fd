import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, OutputWrapper

from payments.health.examination import Examination, examine


class Command(BaseCommand):
    help = (
        "Says what is wrong with the service and what to do about it. Exits with status 1 if anything is; advice "
        "is nothing wrong. "
        "The back office has the same on its page On call."
    )

    def handle(self, **_: Any) -> None:
        examination = examine()
        write(examination, self.stdout)
        if not examination.is_well:
            sys.exit(1)


def write(examination: Examination, output: OutputWrapper) -> None:
    """Write what was found with its section of the guide, and the names of what is in order."""
    for check, found in examination.found:
        output.write(f"{check.title}: see {settings.PUBLIC_URL}{check.guide}")
        for finding in found:
            degree = finding.degree.upper() if finding.urgent else finding.degree
            output.write(f"  {degree:6}  {finding.what}")
            output.write(f"          {finding.do}")
    output.write(f"In order: {', '.join(check.title for check in examination.in_order) or 'nothing'}.")
