"""The floor of a web server: a plain view that takes and answers the same JSON, without a database and without kaha.

SAMPLES names a file with what each part of the service was answered.
"""

import json
import os
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, JsonResponse
from django.urls import path

from tests.benchmark.clients.load import HOST


def ping(request: HttpRequest) -> JsonResponse:
    return _whole({})


def answer(request: HttpRequest, part: str) -> JsonResponse:
    """Read the body and answer with the sample."""
    if request.body:
        json.loads(request.body)
    return _whole(SAMPLES[part])


def _whole(body: Any) -> JsonResponse:
    """Return an answer that says how long it is, or it would go out in chunks."""
    response = JsonResponse(body)
    response.headers["Content-Length"] = str(len(response.content))
    return response


SAMPLES = json.loads(Path(os.environ["SAMPLES"]).read_text())
settings.configure(ALLOWED_HOSTS=[HOST], ROOT_URLCONF=(path("ping", ping), path("<part>", answer)))
application = get_wsgi_application()
