"""The ASGI application that the web server runs: `granian --interface asgi config.asgi:application`."""

from config.wsgi import application as wsgi_application

# Django is set up by the import above.
# isort: split
from payments.web.front import Front

application = Front(wsgi_application)
