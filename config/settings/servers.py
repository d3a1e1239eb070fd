"""The processes of the service, what they connect to, and what they report."""

from config.boot import addresses, databases, exports
from config.logs import setup
from config.settings.environment import env

METRICS_ADDRESS = env.host_and_port("METRICS_ADDRESS")
# The collector's address (OTLP over HTTP; "" for none), its headers, and the share of traces that is sampled.
OTEL_EXPORTER_OTLP_ENDPOINT = env.text("OTEL_EXPORTER_OTLP_ENDPOINT").strip().rstrip("/")
OTEL_EXPORTER_OTLP_HEADERS = env.headers("OTEL_EXPORTER_OTLP_HEADERS")
TRACES_SAMPLE_RATE = env.share("TRACES_SAMPLE_RATE", 0.01)
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

REDIS_URL = env.text("REDIS_URL", "redis://127.0.0.1:6379/0")

# Redis only wakes workers up: their sweeps run by a timer, so a lost message delays work by a second or two.
CELERY_BROKER_URL, SENTINEL_OPTIONS = addresses.broker_of(REDIS_URL)
# A worker connects again for ever, and does not wait for a server that hangs.
CELERY_WORKER_CONSUMER = "config.worker:ReconnectingConsumer"
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
WAITS = {"socket_timeout": 5, "socket_connect_timeout": 5, "socket_keepalive": True}
CELERY_BROKER_TRANSPORT_OPTIONS = WAITS | SENTINEL_OPTIONS
CELERY_TASK_IGNORE_RESULT = True
# A client that can write to Redis may start a task, but not control a worker.
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
# Tasks mostly wait for networks. Recovery must not wait for a check of the invariants or a reconciliation.
CELERY_WORKER_POOL = "threads"
CELERY_WORKER_CONCURRENCY = 8
CELERY_WORKER_HIJACK_ROOT_LOGGER = False

LOGGING = setup.configuration(env.choice("LOG_LEVEL", "INFO", setup.LEVELS), exports.usable_dsn(env))
LOGGING_CONFIG = "config.logs.setup.configure"
