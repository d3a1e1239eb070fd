"""The one page that takes files: who may send how much to it is decided before a byte of the file is read."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from importlib import import_module

from django.conf import settings
from django.contrib.auth import get_user
from django.db import Error, connection
from django.http import parse_cookie
from django.urls import reverse

from payments.admin.reconciliation.uploads import FORM_BYTES, MAY_UPLOAD
from payments.domain.reconciliation.uploads import MAX_BYTES
from payments.web.environ import Environ
from payments.web.refusals import Refused, too_many_bodies
from payments.web.requests import request_of, stated_length

# The most that one process reads at once, because each is in memory.
MOST_AT_ONCE = 2
LENGTH_BYTES = MAX_BYTES + FORM_BYTES
DEADLINE_SECONDS = 120


class Uploads:
    """The files that a process is reading."""

    def __init__(self, lookups: Executor) -> None:
        self._lookups = lookups
        self._path = reverse("admin:payments_reportupload_upload")
        self._under_way = 0

    async def may_send(self, environ: Environ) -> bool:
        """Return whether this is a file that its sender may upload."""
        if environ["PATH_INFO"] != self._path or environ["REQUEST_METHOD"] != "POST":
            return False
        if stated_length(environ) > LENGTH_BYTES:
            return False
        return await asyncio.get_running_loop().run_in_executor(self._lookups, is_operator_who_may, environ)

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Take one of the places while the block runs; raise Refused if there is none."""
        if self._under_way >= MOST_AT_ONCE:
            raise Refused(too_many_bodies())
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1


def is_operator_who_may(environ: Environ) -> bool:
    """Return whether the session is of an operator who may upload reports; the page checks everything again.

    It queries the database, so call it in a thread.
    """
    request = request_of(environ)
    cookie = parse_cookie(environ.get("HTTP_COOKIE", "")).get(settings.SESSION_COOKIE_NAME)
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(cookie)
    try:
        user = get_user(request)
        return user.is_active and user.is_staff and user.has_perm(MAY_UPLOAD)
    except Error:
        return False
    finally:
        connection.close()
