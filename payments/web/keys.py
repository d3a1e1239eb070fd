"""The key of a request whose body is not there yet."""

from django.db import Error, connection
from rest_framework.exceptions import APIException
from rest_framework.request import Request

from payments.api.authentication import KeyAuthentication
from payments.api.errors import ApiError, as_api_error
from payments.api.handling import told_to_stranger
from payments.web.environ import Environ
from payments.web.requests import request_of


def key_error(environ: Environ) -> ApiError | None:
    """Says what is wrong with the key, by the authentication that decides later; None where it works.

    Asks the database and Redis, so call it in a thread.
    """
    request = request_of(environ)
    try:
        KeyAuthentication().authenticate(Request(request))
    except APIException as error:
        return told_to_stranger(request, as_api_error(error))
    except Error as error:
        return as_api_error(error)
    finally:
        connection.close()
    return None
