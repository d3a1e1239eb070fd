"""What the web server runs: `granian --interface asgi config.server.asgi:application` (see the operations guide)."""

from config.wsgi import application as wsgi_application

# Django is set up by now.
# isort: split
from config.server.front import Front

application = Front(wsgi_application)
