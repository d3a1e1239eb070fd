"""Settings of the project, as Django's own documentation has them for an API in production.

libpq reads from the environment where PostgreSQL is.
"""

SECRET_KEY = "of a benchmark"  # pragma: allowlist secret
ALLOWED_HOSTS = ["127.0.0.1"]
INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "rest_framework",
    "rest_framework.authtoken",
    "tests.benchmark.peers.textbook",
    "tests.benchmark.peers.books",
    "tests.benchmark.peers.company",
]
MIDDLEWARE = ["django.middleware.security.SecurityMiddleware", "django.middleware.common.CommonMiddleware"]
ROOT_URLCONF = "tests.benchmark.peers.urls"
# Persistent connections take less time than the pool.
DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", "NAME": "peers", "CONN_MAX_AGE": None}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.TokenAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
}
