"""What browsers may do: hosts, origins, cookies, https and the policy for content."""

from csp.constants import NONE, SELF

from config.settings.environment import ADMIN_ORIGIN, HTTPS, MERCHANT_ORIGIN, env

SECRET_KEY = env.text("SECRET_KEY", "")
DEBUG = False
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
# What the operator says to own with every name below, for `.example.com` among ALLOWED_HOSTS.
OWN_DOMAINS = env.words("OWN_DOMAINS", [])
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
SESSION_COOKIE_NAME = f"{COOKIE_PREFIX}sessionid"
CSRF_COOKIE_NAME = f"{COOKIE_PREFIX}csrftoken"
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
