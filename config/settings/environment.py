"""The environment that the settings are read from, and where this service is reached."""

from pathlib import Path

from config.boot.environment import Environment
from payments import embedded, hosts

BASE_DIR = Path(__file__).resolve().parent.parent.parent
env = Environment()
# A malformed variable has its default here, and `config.boot.checks` refuses to start.
ENVIRONMENT_FAULTS = env.faults

KAHA_DATA = Path(env.text("KAHA_DATA", str(BASE_DIR / ".kaha"))).absolute()
EMBEDDED = not env.text("DATABASE_URL", "")
if EMBEDDED:
    embedded.put_into_environment(KAHA_DATA)

PUBLIC_URL = env.text("PUBLIC_URL", "http://127.0.0.1:8000").rstrip("/")
HTTPS = env.boolean("HTTPS", True)
# The one host that the admin is on, with nothing else, and that of the merchants' site; "" for them to be where all is.
ADMIN_HOST = env.text("ADMIN_HOST", "")
MERCHANT_HOST = env.text("MERCHANT_HOST", "")
ADMIN_ORIGIN = hosts.origin_on(ADMIN_HOST, PUBLIC_URL)
MERCHANT_ORIGIN = hosts.origin_on(MERCHANT_HOST, PUBLIC_URL)
# Hosts that serve one product each, for programs that know only its host; "" for none.
CHECKOUT_HOST = env.text("CHECKOUT_HOST", "").lower()
LINKS_HOST = env.text("LINKS_HOST", "").lower()
REQUESTS_HOST = env.text("REQUESTS_HOST", "").lower()
