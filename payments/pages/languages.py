"""The language of a payer's page, from the browser's languages."""

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation.trans_real import parse_accept_lang_header

# Filipino and Tagalog are two codes for the language that the pages have; browsers send either.
LANGUAGES = {"fil": "fil", "tl": "fil", "en": settings.LANGUAGE_CODE}


def language_of(request: HttpRequest) -> str:
    """Return the first language of `Accept-Language` (RFC 9110, 12.5.4) that the pages have, else English."""
    wanted = (
        code.partition("-")[0] for code, _ in parse_accept_lang_header(request.headers.get("Accept-Language", ""))
    )
    return next((LANGUAGES[code] for code in wanted if code in LANGUAGES), settings.LANGUAGE_CODE)
