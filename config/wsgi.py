"""What the web server runs."""

import os

from django.core.wsgi import get_wsgi_application

from config.checks import refuse_bad_configuration

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
refuse_bad_configuration()
application = get_wsgi_application()
