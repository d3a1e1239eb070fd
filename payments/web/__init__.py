"""The ASGI application of the web server: what every request passes on the event loop before a thread works on it.

`front` is what granian runs. It answers `/ping` and `/ready` itself, reads bodies with a deadline (`bodies`), checks
the key of a request whose body is late, and passes whole requests to a bounded number of threads (`threads`), which
run the WSGI application.
"""
