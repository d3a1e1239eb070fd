"""How messages reach operators, merchants and payers."""

from config.settings.environment import env

# Mail to operators and payers, none without EMAIL_URL; a chat room's incoming webhook, whose URL is a secret.
mail = env.email("EMAIL_URL")
EMAIL_BACKEND = mail["EMAIL_BACKEND"]
EMAIL_HOST = mail["EMAIL_HOST"]
EMAIL_PORT = mail["EMAIL_PORT"]
EMAIL_HOST_USER = mail["EMAIL_HOST_USER"]
EMAIL_HOST_PASSWORD = mail["EMAIL_HOST_PASSWORD"]
EMAIL_USE_TLS = mail["EMAIL_USE_TLS"]
EMAIL_USE_SSL = mail["EMAIL_USE_SSL"]
EMAIL_TIMEOUT = 5
DEFAULT_FROM_EMAIL = env.text("EMAIL_FROM", "kaha@localhost")
CHAT_WEBHOOK_URL = env.text("CHAT_WEBHOOK_URL").strip()
CHAT_WEBHOOK_MODE = env.text("CHAT_WEBHOOK_MODE", "each")
# The service that sends SMS to payers, whose URL is a secret; none are sent without one.
SMS_URL = env.text("SMS_URL").strip()
DIGEST_HOUR = env.integer("DIGEST_HOUR", 8, at_least=0)
