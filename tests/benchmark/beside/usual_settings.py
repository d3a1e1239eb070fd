"""Settings of the usual way to list charges: kaha's database, and nothing on the way to the view."""

from config.settings import *  # noqa: F403 # one setting on top of the other is what they are for

# The first says how long an answer is, or it would go out in chunks; django-allauth does not start without the second.
MIDDLEWARE = ["django.middleware.common.CommonMiddleware", "allauth.account.middleware.AccountMiddleware"]
ROOT_URLCONF = "tests.benchmark.beside.usual"
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "UNAUTHENTICATED_USER": None,
}
