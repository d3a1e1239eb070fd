from typing import Any

from django.core.management.base import BaseCommand

from payments.domain.charging import expiry, recovery


class Command(BaseCommand):
    help = (
        "Releases the holds whose 7 days are over, fails the charges whose payer did not act within the hour, and "
        "destroys the CVCs that no authorization used and the card numbers that nobody charged or kept. The worker "
        "does this by itself."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        holds = 0
        while released := expiry.void_expired_holds():
            holds += released
        actions = recovery.expire_actions()
        cvcs = expiry.destroy_unused_cvcs()
        numbers = expiry.destroy_unused_numbers()
        expiry.destroy_cvc_keys()
        self.stdout.write(
            f"Released {holds} holds, ended {actions} actions, destroyed {cvcs} CVCs and {numbers} card numbers."
        )
