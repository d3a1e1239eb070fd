"""How people sign in: sessions, passwords, second factors."""

from config.settings.environment import ADMIN_ORIGIN, MERCHANT_ORIGIN, env
from payments import hosts

ADMIN_MFA = env.boolean("ADMIN_MFA", True)
# Sign-in of operators (see `payments.staff`): a session ends after 15 idle minutes or when the browser closes.
SESSION_COOKIE_AGE = 15 * 60
SESSION_EXPIRE_AT_BROWSER_CLOSE = True
SIGNED_IN_HOURS = 12
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "admin:index"
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
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_EMAIL_SUBJECT_PREFIX = "kaha: "
ACCOUNT_EMAIL_CONFIRMATION_EXPIRE_DAYS = 1
ACCOUNT_SESSION_REMEMBER = ACCOUNT_AUTHENTICATED_LOGIN_REDIRECTS = False
ACCOUNT_LOGIN_TIMEOUT = 10 * 60
ACCOUNT_REAUTHENTICATION_METHODS = ["password"]
# Failures are counted by `payments.staff.sign_in.lockout`.
ACCOUNT_RATE_LIMITS = {"login_failed": None, "manage_email": "5/h/user"}
MFA_ADAPTER = "payments.staff.sign_in.adapters.FactorAdapter"
MFA_FORMS = {"authenticate": f"{OURS}.CodeForm", "authenticate_webauthn": f"{OURS}.PasskeyForm"}
MFA_FORMS |= {"activate_totp": f"{OURS}.NewAppForm", "add_webauthn": f"{OURS}.NewPasskeyForm"}
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_TOTP_ISSUER = "kaha"
MFA_TOTP_TOLERANCE = 1
MFA_ALLOW_UNVERIFIED_EMAIL = True
PASSWORD_RESET_TIMEOUT = 3600
ADMIN_PASSKEY_HOST = hosts.host_of(ADMIN_ORIGIN)
MERCHANT_PASSKEY_HOST = hosts.host_of(MERCHANT_ORIGIN)
# The limits and used codes of the sign-in, which outlast Redis.
STORE = "django.core.cache.backends.db.DatabaseCache"
CACHES = {"default": {"BACKEND": STORE, "LOCATION": "staff_cache", "OPTIONS": {"MAX_ENTRIES": 100_000}}}
