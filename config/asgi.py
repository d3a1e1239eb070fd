"""What the web server runs: `granian --interface asgi config.asgi:application` (README has all of the line)."""

from config.wsgi import application as wsgi_application

# Django is set up by now.
# isort: split
from payments.web.front import Front

application = Front(wsgi_application)
