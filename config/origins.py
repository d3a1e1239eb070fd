from django.http.request import split_domain_port


def origin_on(host: str, url: str) -> str:
    """The origin `url` (scheme, host and port) with another host, or as it is for "".

    Never raises: that `url` is well-formed is for `config.checks` to say.
    """
    if not host:
        return url
    scheme, separator, netloc = url.partition("://")
    port = split_domain_port(netloc)[1]
    return f"{scheme}{separator}{host}:{port}" if port else f"{scheme}{separator}{host}"


def host_of(origin: str) -> str:
    """The host of an origin, without its port; "" for one that is malformed."""
    return split_domain_port(origin.partition("://")[2])[0]
