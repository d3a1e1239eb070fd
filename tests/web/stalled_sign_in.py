"""Our application with a password hash that takes for as long as a test holds the lock of a file."""

import os
from fcntl import LOCK_SH, flock
from pathlib import Path

from config.wsgi import application as wsgi_application  # Django is set up by it

# isort: split
from django.conf import settings
from django.contrib.auth.hashers import PBKDF2PasswordHasher

from payments.web.front import Front


class StalledHasher(PBKDF2PasswordHasher):
    iterations = 1

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        with Path(os.environ["HELD_FILE"]).open() as held:
            flock(held, LOCK_SH)
        return super().encode(password, salt, iterations)


settings.PASSWORD_HASHERS = ["tests.web.stalled_sign_in.StalledHasher"]
application = Front(wsgi_application)
