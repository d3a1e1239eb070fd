"""Pages whose every opening is told to the audit log: they show more of a person than a list does."""

from typing import Any

from django.http import HttpRequest

from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action


class Seen:
    """Tells who opened the page of a row, for its ModelAdmin; what cannot be told is not shown."""

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        page: Any = super()
        response = page.render_change_form(request, context, *args, **kwargs)
        audit_log.record(Action.VIEWED, kwargs["obj"])
        return response
