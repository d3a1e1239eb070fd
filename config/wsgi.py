"""The WSGI application, which gets requests from `config.asgi` after their bodies have been read."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from config.boot.checks import log_live_cards, refuse_bad_configuration
from config.boot.garbage import freeze_loaded_objects
from config.boot.session_check import refuse_unbounded_sessions
from config.http.wsgi_middleware import ContentTypeFilter, PathLimit

refuse_bad_configuration()
application = PathLimit(ContentTypeFilter(get_wsgi_application()))
refuse_unbounded_sessions()
log_live_cards()
# Django loads the views at the first request, and a payment would wait for that.
get_resolver().url_patterns  # noqa: B018
freeze_loaded_objects()
