"""The floor of a web server: a plain view that takes and answers the same JSON, without a database and without kaha.

`python -m config.benchmark.plain PORT SAMPLES_FILE`: the samples are what each part of the service was answered.
"""

import json
import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, JsonResponse
from django.urls import path

from payments.quickstart.ports import HOST
from payments.quickstart.web import serve


def main(port: int, samples_file: Path) -> None:
    """Serve until SIGTERM."""
    samples: dict[str, Any] = json.loads(samples_file.read_text())

    def answer(request: HttpRequest, part: str) -> JsonResponse:
        if request.body:
            json.loads(request.body)
        return _whole(samples[part])

    settings.configure(ALLOWED_HOSTS=[HOST], ROOT_URLCONF=(path("ping", _ping), path("<part>", answer)))
    serve(get_wsgi_application(), port)


def _whole(body: dict[str, Any]) -> JsonResponse:
    """An answer that says how long it is, or it would go out in chunks."""
    response = JsonResponse(body)
    response.headers["Content-Length"] = str(len(response.content))
    return response


def _ping(request: HttpRequest) -> JsonResponse:
    return _whole({})


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
