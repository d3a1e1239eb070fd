"""The WSGI application, which gets requests from `config.asgi` after their bodies have been read."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.core.cache import close_caches
from django.core.handlers.base import reset_urlconf
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, reset_queries
from django.urls import get_resolver

from config.boot.checks import log_live_cards, refuse_bad_configuration
from config.boot.session_check import refuse_unbounded_sessions
from config.http.wsgi_middleware import ContentTypeFilter, PathLimit
from payments import log_start
from payments.concurrency.connections import release_connection
from payments.concurrency.garbage import freeze_loaded_objects

refuse_bad_configuration()
application = PathLimit(ContentTypeFilter(get_wsgi_application()))
# No thread has a connection before a request, no query is logged for a page of errors, no cache has a connection, and
# each request begins with the same URLs.
request_started.disconnect(close_old_connections)
request_started.disconnect(reset_queries)
for receiver in (close_caches, close_old_connections, reset_urlconf):
    request_finished.disconnect(receiver)
request_finished.connect(lambda **_: release_connection(), weak=False)
refuse_unbounded_sessions()
log_start("web server")
log_live_cards()
# Django loads the views at the first request, and a payment would wait for that.
get_resolver().url_patterns  # noqa: B018
freeze_loaded_objects()
