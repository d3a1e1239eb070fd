"""Settings, all from the environment (see the configuration guide); `config.boot.checks` refuses bad ones at boot.

Without DATABASE_URL everything runs on the embedded servers below KAHA_DATA (see `payments.embedded`).
"""

from pathlib import Path

from csp.constants import NONE, SELF

from config import openapi
from config.boot import addresses, databases, exports
from config.boot.environment import Environment
from config.logs import setup
from payments import embedded, hosts

BASE_DIR = Path(__file__).resolve().parent.parent
env = Environment()
# A malformed variable has its default here, and `config.boot.checks` refuses to start.
ENVIRONMENT_FAULTS = env.faults

KAHA_DATA = Path(env.text("KAHA_DATA", str(BASE_DIR / ".kaha"))).absolute()
EMBEDDED = not env.text("DATABASE_URL", "")
if EMBEDDED:
    embedded.put_into_environment(KAHA_DATA)

SECRET_KEY = env.text("SECRET_KEY", "")
DEBUG = False
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
PUBLIC_URL = env.text("PUBLIC_URL", "http://127.0.0.1:8000").rstrip("/")
HTTPS, CELL = env.boolean("HTTPS", True), env.text("CELL", "")
# The one host that the admin is on, with nothing else, and that of the merchants' site; "" for them to be where all is.
ADMIN_HOST, MERCHANT_HOST = env.text("ADMIN_HOST", ""), env.text("MERCHANT_HOST", "")
ADMIN_ORIGIN = hosts.origin_on(ADMIN_HOST, PUBLIC_URL)
MERCHANT_ORIGIN = hosts.origin_on(MERCHANT_HOST, PUBLIC_URL)
# Hosts that serve one product each, for programs that know only its host; "" for none.
CHECKOUT_HOST, LINKS_HOST = env.text("CHECKOUT_HOST", "").lower(), env.text("LINKS_HOST", "").lower()
REQUESTS_HOST = env.text("REQUESTS_HOST", "").lower()
ADMIN_MFA = env.boolean("ADMIN_MFA", True)
# The short name of the payment link at which the start page lets anybody try a payment; "" for the guide instead.
DEMO_LINK = env.text("DEMO_LINK", "")

# The vault's key-encryption keys: "id:base64 of 32 bytes", separated by commas; the first one wraps, all unwrap.
VAULT_KEYS = env.text("VAULT_KEYS")
# Or one of HashiCorp Vault's transit engine, named so; VAULT_KEYS then only unwrap.
VAULT_TRANSIT_URL = env.text("VAULT_TRANSIT_URL", "").rstrip("/")
VAULT_TRANSIT_TOKEN_FILE = env.text("VAULT_TRANSIT_TOKEN_FILE", "")
VAULT_TRANSIT_KEY = env.text("VAULT_TRANSIT_KEY", "kaha")
TRANSPARENCY_KEYS, FINGERPRINT_KEY = env.text("TRANSPARENCY_KEYS", ""), env.text("FINGERPRINT_KEY", "")

RATE_LIMIT = env.text("RATE_LIMIT", "300/second")
RATE_LIMIT_ANONYMOUS = env.text("RATE_LIMIT_ANONYMOUS", "30/second")
# How many charges of a card, from an address, by a key and at a merchant may be declined in one window.
DECLINE_WINDOW_MINUTES = env.integer("DECLINE_WINDOW_MINUTES", 60, at_least=1)
DECLINE_LIMITS = env.counts("DECLINE_LIMITS", {"card": 10, "address": 100, "key": 150, "merchant": 200})
DECLINE_LIMITS_TEST = env.counts("DECLINE_LIMITS_TEST", {"card": 100, "address": 1000, "key": 1500, "merchant": 2000})
DISPUTE_WARNING = env.counts("DISPUTE_WARNING", {"basis_points": 65, "disputes": 10})
IDEMPOTENCY_KEEP_DAYS = env.integer("IDEMPOTENCY_KEEP_DAYS", 30, at_least=1)
# Events and their webhooks are dropped by whole months, once all of a month is older than this.
EVENTS_KEEP_DAYS = env.integer("EVENTS_KEEP_DAYS", 400, at_least=31)
HOLD_DAYS = 7
# The time zone of the back office, for operators who choose no other.
DISPLAY_TIME_ZONE = env.time_zone("DISPLAY_TIME_ZONE", "UTC")
# How long an operator's request waits for another operator's decision.
APPROVAL_HOURS = env.integer("APPROVAL_HOURS", 48, at_least=1)
ACTION_MINUTES = 60
CVC_KEEP_MINUTES = 60
# How long the number of a card that is neither charged nor kept for a customer is stored.
UNUSED_CARD_KEEP_DAYS = 30
# How far the booking times of the two sides may differ; nothing this close to a report's end counts as missing.
RECONCILIATION_MARGIN_MINUTES = 60
# Live mode takes no cards until the company that runs this attests that it answers for them under PCI DSS (SAQ-D).
LIVE_CARDS_ATTESTED = env.boolean("LIVE_CARDS_ATTESTED", False)
# The name and, by currency, BIC and number of our own bank accounts, which bank files of payouts are to debit.
PAYOUT_DEBTOR_NAME = env.text("PAYOUT_DEBTOR_NAME", "").strip()
PAYOUT_DEBTOR_ACCOUNTS = env.bank_accounts("PAYOUT_DEBTOR_ACCOUNTS")
# The providers' addresses; Adyen's is in the account's settings unless it is set here.
XENDIT_URL = env.text("XENDIT_URL", "https://api.xendit.co").rstrip("/")
ADYEN_URL = env.text("ADYEN_URL", "").rstrip("/")
# Ports that live webhooks may go to, and whether test webhooks may go to this machine.
NOTIFY_PORTS = env.words("NOTIFY_PORTS", ["443"])
NOTIFY_ALLOW_LOOPBACK = env.boolean("NOTIFY_ALLOW_LOOPBACK", False)
# Prefix of the two headers that this interface's client libraries verify.
NOTIFY_HEADER_PREFIX = env.text("NOTIFY_HEADER_PREFIX", "X-Kaha")
# Whether merchants may advance the clock of their test objects.
KAHA_CLOCK = env.boolean("KAHA_CLOCK", False)
# The simulator's latency for each payment and operation.
SIMULATOR_LATENCY_SECONDS = env.integer("SIMULATOR_LATENCY_SECONDS", 0, at_least=0)
SIMULATOR_REFUND_DELAY_SECONDS = env.integer("SIMULATOR_REFUND_DELAY_SECONDS", 2, at_least=0)

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
    "payments.merchant_site.apps.MerchantSiteConfig",
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
]
ROOT_URLCONF, WSGI_APPLICATION, APPEND_SLASH = "config.urls", "config.wsgi.application", False
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
                "moments": "payments.admin.moments",
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
METRICS_ADDRESS = env.host_and_port("METRICS_ADDRESS")
OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS, TRACES_SAMPLE_RATE = exports.traces(env)
SENTRY_DSN = exports.dsn(env)
# Requests that a web process works on at the same time; most of them wait for providers.
WEB_THREADS = env.integer("WEB_THREADS", 200, at_least=10)
# How long a web process still takes requests after SIGTERM, while `/ready` is 503.
WEB_DRAIN_SECONDS = env.integer("WEB_DRAIN_SECONDS", 5, at_least=0)
# How long the body of a request may take, whether it trickles or stops.
REQUEST_BODY_SECONDS = env.integer("REQUEST_BODY_SECONDS", 10, at_least=1)
# "transaction" where a pooler such as PgBouncer gives each transaction another session.
DATABASE_POOLER = env.text("DATABASE_POOLER", "")
DATABASES = databases.named_by(
    env.database("DATABASE_URL", "postgresql:///kaha"),
    env.integer("DATABASE_CONNECTIONS", 8, at_least=1),
    bool(DATABASE_POOLER),
)
DATABASE_ROUTERS = ["config.boot.databases.SessionRouter"] if len(DATABASES) > 1 else []
DATABASE_DISK_GB = env.integer("DATABASE_DISK_GB", 0, at_least=0)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env.text("REDIS_URL", "redis://127.0.0.1:6379/0")

# Redis only wakes workers up: their sweeps run by a timer, so a lost message delays work by a second or two.
CELERY_BROKER_URL, SENTINEL_OPTIONS = addresses.broker_of(REDIS_URL)
# A worker connects again for ever, and does not wait for a server that hangs.
CELERY_WORKER_CONSUMER = "config.worker:ReconnectingConsumer"
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP, CELERY_BROKER_CONNECTION_MAX_RETRIES = True, None
WAITS = {"socket_timeout": 5, "socket_connect_timeout": 5, "socket_keepalive": True}
CELERY_BROKER_TRANSPORT_OPTIONS = WAITS | SENTINEL_OPTIONS
CELERY_TASK_IGNORE_RESULT = True
# A client that can write to Redis may start a task, but not control a worker.
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
# Tasks mostly wait for networks. Recovery must not wait for a check of the invariants or a reconciliation.
CELERY_WORKER_POOL = "threads"
CELERY_WORKER_CONCURRENCY = 8
CELERY_WORKER_HIJACK_ROOT_LOGGER = False

LANGUAGE_CODE, TIME_ZONE, USE_TZ = "en-gb", "UTC", True
# Pages of payers and the merchants' site are in these languages, everything else is in English.
USE_I18N = True
LANGUAGES = [("en-gb", "English"), ("fil", "Filipino")]
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
# The number of own proxies that append to X-Forwarded-For; with 0 that header is ignored.
TRUSTED_PROXIES = env.integer("TRUSTED_PROXIES", 0, at_least=0)
# Browsers may create and read sources with a publishable key; all other paths refuse other origins. A preflight has no
# key, so each key's own list of origins is checked by the views.
CORS_URLS_REGEX = r"^/v2/(sources(/[^/]*)?|health)/?$"
CORS_ALLOW_ALL_ORIGINS = True
CORS_ALLOW_METHODS = ["GET", "POST"]
CORS_ALLOW_HEADERS = ["authorization", "content-type", "idempotency-key", "x-idempotency-key"]
CORS_EXPOSE_HEADERS = ["Request-Id", "Idempotent-Replayed", "RateLimit", "RateLimit-Policy", "Retry-After"]

# HTTPS decides what browsers may do over plain http.
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if HTTPS else 0
# A redirected POST loses its body, and health checks do not come through the proxy.
SECURE_REDIRECT_EXEMPT = [r"^v2(/|$)", r"^ping/?$"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if TRUSTED_PROXIES else None
CSRF_TRUSTED_ORIGINS = list(dict.fromkeys([ADMIN_ORIGIN, MERCHANT_ORIGIN]))
# Browsers accept a cookie with this prefix only from this host, over https.
COOKIE_PREFIX = "__Host-" if HTTPS else ""
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = f"{COOKIE_PREFIX}sessionid", f"{COOKIE_PREFIX}csrftoken"
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
# Not "Strict", so that a link in a ticket opens for a signed-in operator; every form has a CSRF token.
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
# For pages without a policy of their own: the admin's and the error pages.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        **{name: [SELF] for name in ("script-src", "style-src", "font-src", "connect-src", "form-action")},
        "img-src": [SELF, "data:"],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}
# HSTS for subdomains would bind a whole domain.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
LOGGING = setup.configuration(env.choice("LOG_LEVEL", "INFO", setup.LEVELS), exports.usable_dsn(env))
LOGGING_CONFIG = "config.logs.setup.configure"

# Mail to operators and payers, none without EMAIL_URL; a chat room's incoming webhook, whose URL is a secret.
vars().update(env.email("EMAIL_URL"))
DEFAULT_FROM_EMAIL = env.text("EMAIL_FROM", "kaha@localhost")
CHAT_WEBHOOK_URL = env.text("CHAT_WEBHOOK_URL").strip()
CHAT_WEBHOOK_MODE = env.text("CHAT_WEBHOOK_MODE", "each")
# The service that sends SMS to payers, whose URL is a secret; none are sent without one.
SMS_URL = env.text("SMS_URL").strip()
DIGEST_HOUR = env.integer("DIGEST_HOUR", 8, at_least=0)

# Sign-in of operators (see `payments.staff`): a session ends after 15 idle minutes or when the browser closes.
SESSION_COOKIE_AGE, SESSION_EXPIRE_AT_BROWSER_CLOSE = 15 * 60, True
SIGNED_IN_HOURS = 12
LOGIN_URL, LOGIN_REDIRECT_URL = "account_login", "admin:index"
AUTHENTICATION_BACKENDS = ["payments.staff.sign_in.permissions.Permissions"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "payments.staff.sign_in.passwords.LettersAndDigits"},
]
ACCOUNT_ADAPTER = "payments.staff.sign_in.adapters.AccountAdapter"
OURS = "payments.staff.sign_in.forms"
ACCOUNT_FORMS = {"login": f"{OURS}.PasswordForm", "reset_password": f"{OURS}.ResetForm"}
ACCOUNT_LOGIN_METHODS, ACCOUNT_SIGNUP_FIELDS = {"username"}, ["username*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION, ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS, ACCOUNT_EMAIL_SUBJECT_PREFIX = "none", False, "kaha: "
ACCOUNT_SESSION_REMEMBER = ACCOUNT_AUTHENTICATED_LOGIN_REDIRECTS = False
ACCOUNT_LOGIN_TIMEOUT, ACCOUNT_REAUTHENTICATION_METHODS = 10 * 60, ["password"]
# Failures are counted by `payments.staff.sign_in.lockout`.
ACCOUNT_RATE_LIMITS = {"login_failed": None, "manage_email": "5/h/user"}
MFA_ADAPTER = "payments.staff.sign_in.adapters.FactorAdapter"
MFA_FORMS = {"authenticate": f"{OURS}.CodeForm", "authenticate_webauthn": f"{OURS}.PasskeyForm"}
MFA_FORMS |= {"activate_totp": f"{OURS}.NewAppForm", "add_webauthn": f"{OURS}.NewPasskeyForm"}
MFA_SUPPORTED_TYPES, MFA_RECOVERY_CODES_SHOW_ONCE = ["totp", "webauthn", "recovery_codes"], True
MFA_TOTP_ISSUER, MFA_TOTP_TOLERANCE, MFA_ALLOW_UNVERIFIED_EMAIL = "kaha", 1, True
PASSWORD_RESET_TIMEOUT, ACCOUNT_EMAIL_CONFIRMATION_EXPIRE_DAYS = 3600, 1
ADMIN_PASSKEY_HOST, MERCHANT_PASSKEY_HOST = map(hosts.host_of, (ADMIN_ORIGIN, MERCHANT_ORIGIN))
# The limits and used codes of the sign-in, which outlast Redis.
STORE = "django.core.cache.backends.db.DatabaseCache"
CACHES = {"default": {"BACKEND": STORE, "LOCATION": "staff_cache", "OPTIONS": {"MAX_ENTRIES": 100_000}}}

SPECTACULAR_SETTINGS = openapi.settings(PUBLIC_URL)
