"""Data keys: their key-encryption keys, and the progress of retired ones."""

from django.contrib import admin
from django.db.models import Q

from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.filters import by
from payments.admin.framework.id_search import IdSearch
from payments.models import DataKey

ByState = by(
    "state",
    in_use=("In use", Q(retired_at__isnull=True)),
    retired=("Retired, not destroyed yet", Q(retired_at__isnull=False, destroyed_at__isnull=True)),
    destroyed=("Destroyed", Q(destroyed_at__isnull=False)),
)


@admin.register(DataKey)
class DataKeyAdmin(BaseAdmin):
    """Data keys, without the wrapped key itself."""

    merchant_lookup = None
    list_display = ("purpose", "kek", "created", "retired", "destroyed")
    list_filter = (ByState, "purpose")
    search_fields = ("kek",)
    search_help_text = "The name of a key-encryption key, or the ID of a data key."
    search = IdSearch({"": "pk"})
    fields = ("id", "purpose", "kek", "created", "retired", "emptied", "destroyed")
