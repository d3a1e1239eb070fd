"""`kaha`, the command line for merchants' developers: it needs neither Django nor the rest of this repository."""

from importlib.metadata import version

VERSION = version("kaha-cli")
