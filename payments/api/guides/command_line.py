"""The command line for merchants' developers, as a wheel that pip, pipx and uv install from the service itself.

It is made of the package's files when a process starts, with neither a build tool nor a place to keep it, and is the
same everywhere: the entries are in order and have no time of their own.
"""

import base64
import hashlib
import io
import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import etag, require_safe

from payments.api.guides.views import answer_page

PROJECT = Path(__file__).resolve().parents[2] / "cli"
CACHE_CONTROL = "public, max-age=604800"


@dataclass(frozen=True)
class Wheel:
    """A wheel's file name, on which installers rely, and its bytes."""

    name: str
    content: bytes


def build(folder: Path) -> Wheel:
    """Return the wheel of the project in `folder`: pure Python (PyPA, binary distribution format)."""
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    package = project["name"].replace("-", "_")
    stem = f"{package}-{project['version']}"
    modules = sorted((folder / package).rglob("*.py"))
    files = {module.relative_to(folder).as_posix(): module.read_bytes() for module in modules}
    for name, text in _texts(project).items():
        files[f"{stem}.dist-info/{name}"] = text.encode()
    record = f"{stem}.dist-info/RECORD"
    files[record] = "".join([*map(_record_line, files.items()), f"{record},,\n"]).encode()
    return Wheel(f"{stem}-py3-none-any.whl", _zipped(files))


def _texts(project: dict[str, Any]) -> dict[str, str]:
    metadata = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"License: {project['license']}",
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {dependency}" for dependency in project["dependencies"]),
    ]
    scripts = [f"{name} = {function}" for name, function in project["scripts"].items()]
    wheel = ["Wheel-Version: 1.0", "Generator: kaha", "Root-Is-Purelib: true", "Tag: py3-none-any"]
    lines = {"METADATA": metadata, "WHEEL": wheel, "entry_points.txt": ["[console_scripts]", *scripts]}
    return {name: "\n".join([*text, ""]) for name, text in lines.items()}


def _record_line(file: tuple[str, bytes]) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(file[1]).digest()).rstrip(b"=").decode()
    return f"{file[0]},sha256={digest},{len(file[1])}\n"


def _zipped(files: dict[str, bytes]) -> bytes:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            # Its time is the first that a zip file knows, not now.
            entry = zipfile.ZipInfo(name)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return output.getvalue()


WHEEL = build(PROJECT)
ETAG = f'"{hashlib.sha256(WHEEL.content).hexdigest()}"'


def _etag(request: HttpRequest, name: str) -> str | None:
    return ETAG if name == WHEEL.name else None


@require_safe
@etag(_etag)
def download_wheel(request: HttpRequest, name: str) -> HttpResponse:
    """Answer `/cli/kaha_cli-….whl`; another version with 404 and the name of this one. No key is needed."""
    if name != WHEEL.name:
        return HttpResponse(f"This service offers /cli/{WHEEL.name}\n", status=404, content_type="text/plain")
    response = answer_page(request, lambda: WHEEL.content)
    if response.status_code == 200:
        response["Content-Type"], response["Cache-Control"] = "application/zip", CACHE_CONTROL
    return response
