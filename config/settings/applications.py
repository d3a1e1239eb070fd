"""The applications of Django, and what each request and page passes."""

from config import openapi
from config.settings.environment import BASE_DIR, PUBLIC_URL

INSTALLED_APPS = [
    "payments.staff.apps.StaffAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "corsheaders",
    "csp",
    "rest_framework",
    "drf_spectacular",
    "config.apps.ConfigApp",
    "payments",
    "payments.providers.simulator",
    "customers",
    "payments.staff.apps.StaffConfig",
    "payments.merchant_site",
]
MIDDLEWARE = [
    "config.http.middleware.KeyUse",
    "config.http.request_line.RequestLine",
    "config.http.traced_requests.TracedRequests",
    "config.http.api_shortcut.ApiShortcut",
    "config.http.middleware.RefuseTrace",
    "django.middleware.security.SecurityMiddleware",
    "payments.web.hosts.HostAndHttps",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "payments.web.hosts.SiteHosts",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "corsheaders.middleware.CorsMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "payments.staff.audit_actor.AuditActor",
    "django.contrib.messages.middleware.MessageMiddleware",
    "payments.staff.admin_site.search_terms.PlainRequests",
    "payments.staff.preferences.DisplayPreferences",
    "payments.staff.sign_in.sessions.SessionLimits",
    "payments.staff.sign_in.account_pages.AccountPages",
    "allauth.account.middleware.AccountMiddleware",
    "config.http.api_shortcut.end_of_middleware",
]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
APPEND_SLASH = False
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            "builtins": ["payments.merchant_site.form_owner"],
            "libraries": {
                "moments": "payments.admin.shown_times",
                "lists": "payments.admin.lists.tags",
                "banners": "payments.admin.banners",
                "figures": "payments.admin.figures.section",
                "fragments": "payments.pages.fragments",
                "office": "payments.api.guides.office",
            },
        },
    }
]

FORM_RENDERER = "payments.admin.framework.reason_form.Renderer"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
# Pages of payers and the merchants' site are in these languages, everything else is in English.
USE_I18N = True
# Django looks for each text of British English in six catalogs, so only its forms of dates and numbers are taken.
FORMAT_MODULE_PATH = ["payments.pages.locale"]
LANGUAGES = [("en", "English"), ("fil", "Filipino")]
LOCALE_PATHS = [BASE_DIR / "payments" / "pages" / "locale", BASE_DIR / "payments" / "merchant_site" / "locale"]
FILE_UPLOAD_HANDLERS = ["config.http.upload_handlers.RefuseFiles"]
# No form or API request is larger.
DATA_UPLOAD_MAX_MEMORY_SIZE = 128 * 1024
STATIC_URL = "/static/"
# Assets are served from the installed packages, without `collectstatic`.
WHITENOISE_USE_FINDERS = True

# What every request below /v2 passes.
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["payments.api.access.authentication.KeyAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["payments.api.access.authentication.KeyPermission"],
    "DEFAULT_THROTTLE_CLASSES": ["payments.api.access.throttling.KeyThrottle"],
    "DEFAULT_PARSER_CLASSES": ["payments.api.validation.parsers.StrictJsonParser"],
    "DEFAULT_RENDERER_CLASSES": ["payments.api.responses.rendering.JsonRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "payments.api.responses.rendering.JsonNegotiation",
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "payments.api.access.exception_handler.exception_handler",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = openapi.settings(PUBLIC_URL)
