"""What the web server runs."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from config.bodies import WholeBody
from config.checks import refuse_bad_configuration, tell_of_live_cards
from config.garbage import spare_what_stays
from config.long_paths import ShortPath
from config.media_types import ReadableType

refuse_bad_configuration()
application = ShortPath(ReadableType(WholeBody(get_wsgi_application(), settings.DATA_UPLOAD_MAX_MEMORY_SIZE)))
tell_of_live_cards()
# Django loads the views when they are first asked for; somebody's payment would wait for that.
get_resolver().url_patterns  # noqa: B018
spare_what_stays()
