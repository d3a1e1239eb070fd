from typing import Any

from django.db import models
from psycopg.types.json import Json

from payments.json_codecs.verbatim_json import dumps


class VerbatimJSONField(models.JSONField):
    """JSON in PostgreSQL's `json` type, which returns it as it was sent.

    Nothing inside it can be queried. `jsonb`, the type of Django's own field, sorts the members.
    """

    def db_type(self, connection: object) -> str:
        return "json"

    def get_db_prep_value(self, value: Any, connection: object, prepared: bool = False) -> Any:
        return None if value is None else Json(value, dumps)

    def get_db_converters(self, connection: object) -> list[Any]:
        """Return no converter: psycopg has parsed the value."""
        return []
