"""TLS for receivers of the suite: certificates that sign themselves, and others."""

import ssl
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from payments import clock
from payments.webhooks.transport.client import system_trust


class Certificate:
    """One for `names`, which are DNS names or addresses: of `issuer`, or its own as OpenSSL's `req -x509` makes it."""

    def __init__(self, folder: Path, *names: str, issuer: "Certificate | None" = None) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
        signer = issuer or self
        signed = (
            x509.CertificateBuilder(signer._subject, self._subject, self._key.public_key(), x509.random_serial_number())
            .not_valid_before(clock.now() - timedelta(days=1))
            .not_valid_after(clock.now() + timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=signer is self, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName([_general_name(name) for name in names]), critical=False)
            .sign(signer._key, hashes.SHA256())
        )
        self._file = folder / f"{names[0]}.pem"
        pem, private = serialization.Encoding.PEM, (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        self._file.write_bytes(self._key.private_bytes(pem, *private) + signed.public_bytes(pem))
        self.names_asked: list[str | None] = []

    def server(self) -> ssl.SSLContext:
        """For a receiver; `names_asked` gets the server name of every handshake."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self._file)
        context.sni_callback = lambda connection, name, context: self.names_asked.append(name)
        return context

    def client(self) -> ssl.SSLContext:
        """For a transport on a system that trusts this certificate."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SSL_CERT_FILE", str(self._file))
            return system_trust.__wrapped__()


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)
