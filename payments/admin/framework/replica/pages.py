"""Pages that the replica answers, for operators who have changed nothing just now."""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.template.response import SimpleTemplateResponse

from payments.admin.framework.merchant_access import limit_of
from payments.db.replica import reads
from payments.db.replica.reads import Reader

View = Callable[..., Any]
SAFE = ("GET", "HEAD")
# Kept by the browser for as long as the replica may lack what the operator has changed.
COOKIE = f"{settings.COOKIE_PREFIX}changed"
MARGIN_SECONDS = 2


def from_replica(view: View) -> View:
    """Return `view`, which only shows rows, answered by the replica where it may be (see `reader_for`)."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        make, reader = partial(view, request, *args, **kwargs), reader_for(request)
        if request.method not in SAFE or not reader.uses_replica:
            return make()
        return reader(lambda: _rendered(make()))

    return answer


def reader_for(request: HttpRequest) -> Reader:
    """Return what reads rows for this operator: the primary does where they have changed something just now.

    What the operator may see is read from the primary first.
    """
    reader = Reader(COOKIE not in request.COOKIES)
    if reader.uses_replica:
        user: Any = request.user
        user.get_all_permissions()
        limit_of(request)
    return reader


def noting_changes(view: View) -> View:
    """Return `view`, after whose changes this operator's pages are read from the primary for a while."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        response = view(request, *args, **kwargs)
        if request.method not in SAFE and reads.is_configured():
            seconds = settings.REPLICA_MAX_LAG_SECONDS + MARGIN_SECONDS
            response.set_cookie(COOKIE, "1", max_age=seconds, secure=settings.HTTPS, httponly=True, samesite="Lax")
        return response

    return answer


def _rendered(page: Any) -> Any:
    """Return the page made to its end, because a template reads rows too."""
    if isinstance(page, SimpleTemplateResponse):
        page.render()
    return page
