from django.contrib import admin
from django.db.models import Q

from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.filters import ByMode, by
from payments.admin.framework.id_search import IdSearch
from payments.models import IdempotencyRecord

ByAnswer = by("answer", given=("Given", Q(status__isnull=False)), awaited=("In use", Q(status__isnull=True)))


@admin.register(IdempotencyRecord)
class IdempotencyRecordAdmin(BaseAdmin):
    """Idempotency keys with their status. The stored answer belongs to the merchant and is not shown."""

    list_display = ("key", "status", "merchant", "mode", "created")
    list_filter = (ByAnswer, ByMode, "created_at")
    list_select_related = ("merchant",)
    search_fields = ("key",)
    search = IdSearch({"": "pk", "mer": "merchant_id"}, exact="key")
    search_help_text = "The key, whole, or a merchant's ID."
    fieldsets = ((None, {"fields": ("key", "status", "of_merchant", "mode", "created")}),)
