"""Samples of each call in four languages: `x-codeSamples` of the OpenAPI document. The tests run every one.

A sample has the service's own address and the IDs of the document's examples written out. It takes the API key from the
environment, so that nobody saves a key with a program.
"""

import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from payments.api.reference.literals import JAVASCRIPT, JSON, PHP, PYTHON, literal
from payments.json_codecs.verbatim_json import to_bytes

Document = dict[str, Any]

METHODS = ("get", "post", "put", "delete")
# The variable that the guides, too, put the key into.
KEY = "KAHA_KEY"
PAGE_SIZE = 10
PUBLIC_ID = re.compile(r"\b([a-z]+)_[0-9a-f]{32}\b")
EMAIL = "juan%40example.com"


@dataclass(frozen=True, slots=True)
class SampleCall:
    """A request as a sample sends it; `body` is None where nothing is sent."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: Mapping[str, Any] | None
    with_key: bool
    answers_json: bool


def add_samples(result: Document, **_: Any) -> Document:
    """Add samples to every operation of the document; a hook of drf-spectacular."""
    server = result["servers"][0]["url"]
    for path, operations in result["paths"].items():
        for method, operation in operations.items():
            if method in METHODS:
                operation["x-codeSamples"] = samples(_call(server + path, method, operation))
    return result


def samples(call: SampleCall) -> list[dict[str, str]]:
    """Return the call in each language, as viewers and editors expect it in `x-codeSamples`."""
    return [{"lang": lang, "label": label, "source": write(call)} for lang, label, write in LANGUAGES]


def _call(url: str, method: str, operation: Document) -> SampleCall:
    parameters = operation.get("parameters", [])
    for parameter in parameters:
        if parameter["in"] == "path":
            url = url.replace(f"{{{parameter['name']}}}", _example_of(parameter, operation))
    names = {parameter["name"] for parameter in parameters}
    body = _first_example(operation.get("requestBody", {}))
    headers = {"Content-Type": "application/json"} if body else {}
    if "Idempotency-Key" in names:
        headers["Idempotency-Key"] = f"{operation['operationId'].replace('_', '-')}-77"
    return SampleCall(
        method=method.upper(),
        url=f"{url}?limit={PAGE_SIZE}" if "limit" in names else url,
        headers=headers,
        body=body,
        with_key=bool(operation.get("security", True)),
        answers_json="text/plain" not in operation["responses"].get("200", {}).get("content", {}),
    )


def _first_example(part: Document) -> Any:
    """Return the first example of a body that is not empty, or None."""
    examples = part.get("content", {}).get("application/json", {}).get("examples", {})
    return next((example["value"] for example in examples.values() if example["value"]), None)


def _example_of(parameter: Document, operation: Document) -> str:
    """Return the value of a path parameter: the ID of this kind in the examples of the operation, or the address."""
    prefix = re.match(r"\^([a-z]+)_", parameter["schema"].get("pattern", ""))
    if prefix is None:
        return EMAIL
    answers = b"".join(to_bytes(_first_example(answer)) for answer in operation["responses"].values())
    known = (found[0] for found in PUBLIC_ID.finditer(answers.decode()) if found[1] == prefix[1])
    return next(known, f"{prefix[1]}_019aa3c5d1017f4e8b7a6c5d4e3f2a1b")


def curl(call: SampleCall) -> str:
    method = "" if call.method == ("POST" if call.body else "GET") else f"-X {call.method} "
    parts = [f"curl -s {method}'{call.url}'"]
    parts += [f'-u "${KEY}:"'] if call.with_key else []
    parts += [f"-H '{name}: {value}'" for name, value in call.headers.items()]
    if call.body:
        quoted = literal(call.body, JSON, 1).replace("'", r"'\''")
        parts.append(f"-d '{quoted}'")
    return " \\\n  ".join(parts) + "\n"


def python(call: SampleCall) -> str:
    headers = {name: value for name, value in call.headers.items() if name != "Content-Type"}
    lines = [
        literal(call.url, PYTHON),
        *([f'auth=(os.environ["{KEY}"], "")'] if call.with_key else []),
        *([f"headers={literal(headers, PYTHON, 1)}"] if headers else []),
        *([f"json={literal(call.body, PYTHON, 1)}"] if call.body else []),
        "timeout=30",
    ]
    request = "".join(f"    {line},\n" for line in lines)
    imports = "import os\n\nimport requests" if call.with_key else "import requests"
    return (
        f"{imports}\n\nanswer = requests.{call.method.lower()}(\n{request})\n"
        'if not answer.ok:\n    raise SystemExit(f"The call failed: {answer.text}")\n'
        f"print(answer.{'json()' if call.answers_json else 'text'})\n"
    )


def javascript(call: SampleCall) -> str:
    headers = [f"Authorization: `Bearer ${{process.env.{KEY}}}`"] if call.with_key else []
    headers += [f"{literal(name, JAVASCRIPT)}: {literal(value, JAVASCRIPT)}" for name, value in call.headers.items()]
    options = [f'method: "{call.method}"'] if call.method != "GET" else []
    options += ["headers: {\n" + "".join(f"    {header},\n" for header in headers) + "  }"] if headers else []
    options += [f"body: JSON.stringify({literal(call.body, JAVASCRIPT, 1)})"] if call.body else []
    request = literal(call.url, JAVASCRIPT)
    if options:
        request += ", {\n" + "".join(f"  {option},\n" for option in options) + "}"
    return (
        f"const answer = await fetch({request});\n"
        "if (!answer.ok) throw new Error(await answer.text());\n"
        f"console.log(await answer.{'json' if call.answers_json else 'text'}());\n"
    )


def php(call: SampleCall) -> str:
    options = ["CURLOPT_RETURNTRANSFER => true"]
    options += [f'CURLOPT_CUSTOMREQUEST => "{call.method}"'] if call.method != "GET" else []
    options += [f'CURLOPT_USERPWD => getenv("{KEY}") . ":"'] if call.with_key else []
    headers = [f"{name}: {value}" for name, value in call.headers.items()]
    options += [f"CURLOPT_HTTPHEADER => {literal(headers, PHP, 1)}"] if headers else []
    options += [f"CURLOPT_POSTFIELDS => json_encode({literal(call.body, PHP, 1)})"] if call.body else []
    return textwrap.dedent("""\
        <?php
        $request = curl_init({url});
        curl_setopt_array($request, [
        {options}]);
        $answer = curl_exec($request);
        if ($answer === false || curl_getinfo($request, CURLINFO_RESPONSE_CODE) >= 400) {{
            exit("The call failed: " . ($answer ?: curl_error($request)));
        }}
        {show}
        """).format(
        url=literal(call.url, PHP),
        options="".join(f"    {option},\n" for option in options),
        show="print_r(json_decode($answer, true));" if call.answers_json else "echo $answer;",
    )


Writer = Callable[[SampleCall], str]
# Name for highlighters, label, and the function that writes the sample.
LANGUAGES: tuple[tuple[str, str, Writer], ...] = (
    ("Shell", "curl", curl),
    ("Python", "Python", python),
    ("JavaScript", "JavaScript", javascript),
    ("PHP", "PHP", php),
)
