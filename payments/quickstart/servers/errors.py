"""What can be wrong with a data folder."""


class EmbeddedError(Exception):
    """The embedded servers cannot run; the message is one line for the person at the terminal."""
