"""kaha's settings, with the simulator on a host of its own: its books are in another database, as a provider's are."""

import os

from config import settings as ours

vars().update({name: value for name, value in vars(ours).items() if name.isupper()})
INSTALLED_APPS = [*ours.INSTALLED_APPS, "tests.figures.failover.programs.apps.RemoteSimulatorConfig"]
PROVIDER_HOST, PROVIDER_PORT = os.environ["PROVIDER_ADDRESS"].split(":")
