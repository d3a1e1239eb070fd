from typing import TYPE_CHECKING, Any

from django.db import models
from psycopg.types.json import Json

from payments.json_codecs.compression import compress, expand
from payments.json_codecs.verbatim_json import to_bytes


class VerbatimJSONField(models.JSONField):
    """JSON in PostgreSQL's `json` type, which returns it as it was sent.

    Nothing inside it can be queried. `jsonb`, the type of Django's own field, sorts the members.
    """

    def db_type(self, connection: object) -> str:
        return "json"

    def get_db_prep_value(self, value: Any, connection: object, prepared: bool = False) -> Any:
        return None if value is None else Json(value, to_bytes)

    def get_db_converters(self, connection: object) -> list[Any]:
        """Return no converter: psycopg has parsed the value."""
        return []


class CompressedField(models.BinaryField):
    """JSON in bytes, which are read as they were written and stored compressed: nothing in it can be queried."""

    def get_db_prep_value(self, value: Any, connection: object, prepared: bool = False) -> Any:
        return None if value is None else compress(value)

    def from_db_value(self, value: Any, expression: object, connection: object) -> bytes | None:
        return None if value is None else expand(value)


OWNER = "merchant"

if TYPE_CHECKING:
    # The same to a type checker.
    OwnForeignKey = models.ForeignKey
    OwnOneToOneField = models.OneToOneField
else:

    class _OfOneMerchant:
        """A key from one row of a merchant to another of the same merchant, whom a join by it names.

        An engine that shards by merchant joins rows on one server only where the join says that they are there;
        PostgreSQL finds the row by its ID as before.
        """

        def get_joining_fields(self, reverse_join: bool = False) -> tuple[Any, ...]:
            own, other = self.model._meta.get_field(OWNER), self.related_model._meta.get_field(OWNER)
            return *super().get_joining_fields(reverse_join), (other, own) if reverse_join else (own, other)

        def get_extra_descriptor_filter(self, row: models.Model) -> dict[str, Any]:
            """Return what is known of the other row beside its ID."""
            return {f"{OWNER}_id": getattr(row, f"{OWNER}_id")}

        def deconstruct(self) -> tuple[Any, ...]:
            """Return what a migration says of Django's own class, because the column is the same."""
            name, _, arguments, options = super().deconstruct()
            return name, f"django.db.models.{self.django_name}", arguments, options

    class OwnForeignKey(_OfOneMerchant, models.ForeignKey):
        django_name = "ForeignKey"

    class OwnOneToOneField(_OfOneMerchant, models.OneToOneField):
        django_name = "OneToOneField"
