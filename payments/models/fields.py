from django.db import models


class VerbatimJSONField(models.JSONField):
    """JSON in PostgreSQL's `json` type, which keeps the order of members, so that it is returned as it was sent."""

    def db_type(self, connection: object) -> str:
        return "json"
