"""The front of the web server: what every request passes on the event loop before a thread works on it.

`asgi` is what granian runs. It answers `/ping` and `/ready` itself (`health`), reads bodies with a deadline (`bodies`),
asks for the key before a body that is late (`keys`), and hands whole requests to a bounded number of threads
(`threads`), which run the WSGI application.
"""
