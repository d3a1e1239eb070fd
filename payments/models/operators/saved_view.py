"""Views of lists that operators saved."""

from django.conf import settings
from django.db import models
from django.db.models import F

from payments import clock, ids

VIEW_NAME_MAX_LENGTH = 60
QUERY_MAX_LENGTH = 1000


class SavedView(models.Model):
    """The filters of a list under an operator's name for them; `model` is the label of the list's model."""

    id = models.UUIDField(primary_key=True, default=ids.new_id, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", db_index=False)
    model = models.CharField(max_length=100)
    name = models.CharField(max_length=VIEW_NAME_MAX_LENGTH)
    # The query string of the list's address.
    query = models.CharField(max_length=QUERY_MAX_LENGTH)
    created_at = models.DateTimeField(default=clock.now, editable=False)

    class Meta:
        default_permissions = ()
        permissions = [("export_list", "Exports lists")]
        constraints = [
            models.UniqueConstraint(F("user"), F("model"), F("name"), name="one_saved_view_per_name"),
        ]

    def __str__(self) -> str:
        return self.name
