"""Many charges at once, for lists that must stay quick."""

from uuid import UUID

from django.db import connection

from payments.models import Charge, Merchant
from tests.factories import ChargeFactory, SourceFactory


def sell(merchant: Merchant, count: int, first: int = 1) -> None:
    """Give a merchant `count` charges; their IDs count on from `first`, and a higher ID is a newer charge."""
    source = SourceFactory(merchant=merchant, is_vaulted=True)
    ChargeFactory.build(id=UUID(int=first), merchant=merchant, source=source, is_captured=True).save()
    columns = [field.column for field in Charge._meta.concrete_fields if not field.primary_key]
    names = ", ".join(f'"{name}"' for name in columns)
    with connection.cursor() as cursor:
        cursor.execute(
            f"""INSERT INTO payments_charge (id, {names})
                SELECT lpad(to_hex(%s + number), 32, '0')::uuid, {names}
                FROM payments_charge, generate_series(1, %s) AS number WHERE id = %s""",
            [first, count - 1, UUID(int=first)],
        )
