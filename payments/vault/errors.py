class VaultError(Exception):
    """A sealed value or a wrapped key that does not open: damaged, or moved from its place."""


class KeyDestroyed(VaultError):
    """The data key was destroyed, and with it everything that it sealed."""


class VaultUnavailable(Exception):
    """A key cannot be had at the moment: nothing was sealed or opened, and it may be tried again."""
