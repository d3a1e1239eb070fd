"""Settings, all from the environment (see the configuration guide); `config.boot.checks` refuses bad ones at boot.

Without DATABASE_URL everything runs on the embedded servers below KAHA_DATA (see `payments.embedded`).
"""

from config.settings.applications import *  # noqa: F403
from config.settings.browsers import *  # noqa: F403
from config.settings.environment import *  # noqa: F403
from config.settings.messages import *  # noqa: F403
from config.settings.servers import *  # noqa: F403
from config.settings.service import *  # noqa: F403
from config.settings.sign_in import *  # noqa: F403
