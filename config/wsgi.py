"""The WSGI application, to which `config.asgi` hands requests whose bodies are there."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from config.checks import refuse_bad_configuration, tell_of_live_cards
from config.garbage import spare_what_stays
from config.long_paths import ShortPath
from config.media_types import ReadableType

refuse_bad_configuration()
application = ShortPath(ReadableType(get_wsgi_application()))
tell_of_live_cards()
# Django loads the views when they are first asked for; somebody's payment would wait for that.
get_resolver().url_patterns  # noqa: B018
spare_what_stays()
