"""The usual way to list charges, to be cheaper than: ORM and ModelSerializer, without keys, limits and logs.

`python -m config.benchmark.usual PORT`
"""

import os
import sys

from django.core.wsgi import get_wsgi_application

from payments.quickstart.web import serve

if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.benchmark.usual_settings"
    serve(get_wsgi_application(), int(sys.argv[1]))
