"""kaha's settings, with the simulator on a host of its own: its books are in another database, as a provider's are."""

import os

from config.settings import *  # noqa: F403
from config.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.figures.failover.programs.apps.RemoteSimulatorConfig"]
PROVIDER_HOST, PROVIDER_PORT = os.environ["PROVIDER_ADDRESS"].split(":")
