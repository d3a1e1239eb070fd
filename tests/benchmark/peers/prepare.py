"""Makes the peers' tables and so many charges: `python -m tests.benchmark.peers.prepare CHARGES`. Prints a token."""

import sys

import django
from django.core.management import call_command
from django.db import connection

BATCH = 1000
OF_CARD = {"name": "Payer 1", "brand": "visa", "last4": "3055", "exp_month": "12", "exp_year": "2034"}
CARD = {"type": "card", **OF_CARD}


def main(charges: int) -> None:
    """Make them, half of the charges as another merchant's."""
    from django.contrib.auth.models import User
    from rest_framework.authtoken.models import Token

    from tests.benchmark.clients.client import ORDER
    from tests.benchmark.peers.company import models as company
    from tests.benchmark.peers.textbook.models import Charge, Source

    # The apps, which have no migrations, name tables of those that have.
    for run_syncdb in (False, True):
        call_command("migrate", run_syncdb=run_syncdb, verbosity=0)
    owners = [User.objects.create_user(f"shop-{number}") for number in range(2)]
    for _ in range(0, charges, BATCH):
        new = [Source(owner=owners[number % 2], used=True, **CARD) for number in range(BATCH)]
        sources = Source.objects.bulk_create(new)
        Charge.objects.bulk_create(
            Charge(owner=source.owner, source=source, status=Charge.Status.SUCCEEDED, **ORDER) for source in sources
        )
        theirs = [company.Source(owner=source.owner, type="card", used=True) for source in sources]
        theirs = company.Source.objects.bulk_create(theirs)
        company.Card.objects.bulk_create(company.Card(source=source, **OF_CARD) for source in theirs)
        company.Charge.objects.bulk_create(
            company.Charge(owner=source.owner, source=source, status=Charge.Status.SUCCEEDED, **ORDER)
            for source in theirs
        )
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    print(Token.objects.create(user=owners[0]).key)


if __name__ == "__main__":
    django.setup()
    main(int(sys.argv[1]))
