from typing import Any

from django.http import HttpRequest


def home(request: HttpRequest) -> dict[str, Any]:
    """Return what begins the first page."""
    return {}
