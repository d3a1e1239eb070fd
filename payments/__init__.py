"""kaha, whose version stands in `pyproject.toml` alone: that file goes with the programs, which nothing installs."""

import logging
import platform
import tomllib
from pathlib import Path

import django

VERSION: str = tomllib.loads((Path(__file__).resolve().parents[1] / "pyproject.toml").read_text())["project"]["version"]

logger = logging.getLogger("kaha.start")


def described() -> str:
    """Return the version of kaha, and those of what it runs on."""
    return f"kaha {VERSION} (Django {django.get_version()}, Python {platform.python_version()})"


def log_start(program: str) -> None:
    """Log which version of `program` starts: the first line of its log."""
    logger.info("%s: %s starts", described(), program)
