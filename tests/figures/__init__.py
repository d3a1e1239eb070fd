"""Figures about callbacks and about money, on real servers: `.uv/bin/uv run python -m tests.figures --help`.

The suite runs the same code at sizes that take seconds.
"""
