"""kaha's settings, with marked cards in the simulator, and views and tasks that break."""

from config.settings import *  # noqa: F403
from config.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.canaries.apps.CanariesConfig"]
ROOT_URLCONF = "tests.canaries.urls"
CELERY_IMPORTS = ["tests.canaries.tasks"]
