from typing import Any

from django.db import models
from psycopg.types.json import Json

from payments.documents import dumps


class VerbatimJSONField(models.JSONField):
    """JSON in PostgreSQL's `json` type, which keeps the order of members, so that it is returned as it was sent.

    Nothing inside it can be queried; `jsonb`, which Django's own field uses, sorts the members.
    """

    def db_type(self, connection: object) -> str:
        return "json"

    def get_db_prep_value(self, value: Any, connection: object, prepared: bool = False) -> Any:
        return None if value is None else Json(value, dumps)

    def get_db_converters(self, connection: object) -> list[Any]:
        """None: psycopg has parsed it already."""
        return []
