"""Makes the month of demo life once: `python -m payments.quickstart.month`.

It is one transaction: a run that is cut off leaves nothing, and the next start makes the month.
"""

import os
import sys

import django

CHARGES, MERCHANTS, DAYS = 375, 4, 30
# Behind the web server and the worker, so that pages stay quick meanwhile.
NICENESS = 5


def main() -> None:
    """Make the month as a program that comes after those that answer."""
    os.nice(NICENESS)
    django.setup()
    from payments.db.backend import allow_work

    sys.stdin.read()
    allow_work()
    make_once()


def make_once() -> None:
    """Make the month, of the demo shop too, unless a demo is there, whose operators a demo has first."""
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.db import transaction

    from payments.models import Merchant, PaymentLink
    from payments.quickstart.demo.shops import OPERATORS
    from payments.quickstart.payment import LINK

    own = Merchant.objects.filter(pk__in=PaymentLink.objects.filter(short=LINK).values("merchant")).first()
    with transaction.atomic():
        if not User.objects.filter(username__in=OPERATORS).exists():
            call_command("seed_demo", charges=CHARGES, merchants=MERCHANTS, days=DAYS, own=own)


if __name__ == "__main__":
    main()
