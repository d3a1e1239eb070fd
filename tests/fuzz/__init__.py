"""Whatever is sent is answered as documented or refused, never by an error of ours, and a refusal changes nothing.

`python -m tests.figures fuzz` draws such requests by the hundred thousand.
"""
