"""TLS for receivers of the suite: certificates that sign themselves."""

import ssl
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from payments import clock


class Certificate:
    """A self-signed certificate for `names`, which are DNS names or addresses."""

    def __init__(self, folder: Path, *names: str) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
        signed = (
            x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
            .not_valid_before(clock.now() - timedelta(days=1))
            .not_valid_after(clock.now() + timedelta(days=1))
            .add_extension(x509.SubjectAlternativeName([_general_name(name) for name in names]), critical=False)
            .sign(key, hashes.SHA256())
        )
        self._pem = signed.public_bytes(serialization.Encoding.PEM)
        self._file = folder / f"{names[0]}.pem"
        private = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        self._file.write_bytes(key.private_bytes(serialization.Encoding.PEM, *private) + self._pem)
        self.names_asked: list[str | None] = []

    def server(self) -> ssl.SSLContext:
        """For a receiver; `names_asked` gets the server name of every handshake."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self._file)
        context.sni_callback = lambda connection, name, context: self.names_asked.append(name)
        return context

    def client(self) -> ssl.SSLContext:
        """For a transport that trusts this certificate and no other."""
        return ssl.create_default_context(cadata=self._pem.decode())


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)
