"""The commands that views print, for the target and catalog of the run. They can be pasted unchanged.

A cause and a record are probed again by our own commands. A request over HTTP is sent again by a `curl` line. In the
line, `${PA_API_KEY}` replaces a key, and names are the provider's real ones; evidence holds their stand-ins.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.model.exchange import CLEANUP, CONTROL
from catalog_probe.catalog.text.json_values import list_strings_and_names, map_strings
from catalog_probe.catalog.text.readable_text import escape_hidden
from catalog_probe.reports.content.findings import list_exchange_endpoints, list_mismatched_steps

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.catalog.evidence.causes import Cause
    from catalog_probe.catalog.evidence.results import Result, Run
    from catalog_probe.catalog.model import Address, Exchange, Json, Request

_TEST_FUNCTIONS = {
    "endpoints": "probes/test_endpoints.py::test_endpoint",
    "errors": "probes/test_errors.py::test_error",
    "rate_limits": "probes/test_rate_limits.py::test_rate_limit",
}

_REASON_PLACEHOLDER = "…"

_MAX_STEPS = 24  # shown of one attempt; recipes that use up a limit send the same request up to 60 times
_MAX_LINE_LENGTH = 100_000  # characters; Linux takes no argument of more than 128 KiB

_VARIABLE = re.compile(r"\$\{([A-Z][A-Z0-9_]*)\}")
"""A key in evidence: `${PA_API_KEY}`."""

_HIDDEN = re.compile(r"\[redacted\]|\[hidden: |\{secret_\d+\}|\*\*\*")
"""What evidence has in place of a value that was a secret."""

_NO_TEXT = re.compile(r"\\x[0-9a-f]{2}|^\[\d+ bytes")
"""What evidence has in place of bytes that are no UTF-8, and of a body of which only the size is known."""

_KEY_HEADER = re.compile(r"authorization|.*(?:key|token|secret).*", re.IGNORECASE)
_HEADER_NAME = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)  # RFC 9110; a HAR of HTTP/2 has `:authority` as well
_SET_BY_CURL = frozenset({"host", "content-length", "connection", "accept-encoding", "cookie"})

_NEEDS_NO_ESCAPES = re.compile(r"[\w :/.,=+@%?&-]*", re.ASCII)
"""A text that means the same within double quotes as within single quotes."""

_NamePair = Mapping[str, str]
"""`stand_in`, the name in the documents, and `real`, the name on the wire."""

_SAME_NAME: _NamePair = {"stand_in": "", "real": ""}


@dataclass(frozen=True, slots=True)
class StepCommand:
    """The command that repeats one step of a record."""

    exchange: Exchange
    command: str
    obstacle: str = ""
    """Why no `curl` line can repeat the step, e.g. `over gRPC`: then the command probes the record again."""


def build_nodeid(address: Address) -> str:
    """Return the pytest id of a record's probe in the checkout."""
    return f"{_TEST_FUNCTIONS[address.kind]}[{address}]"


def find_nodeid(result: Result) -> str:
    """Return the pytest id under which a record was probed."""
    return result.nodeid or build_nodeid(result.address)


def format_probe_command(run: Run, result: Result) -> str:
    """Return the command that probes one record again, with its cost allowed."""
    allow = ["--allow", f"free,{result.cost}"] if result.cost and result.cost != "free" else []
    return shlex.join([*_probe_program(run), find_nodeid(result), *_target_options(run), *allow])


def format_cause_command(run: Run, cause: Cause) -> str:
    """Return the command that probes the records of a cause again."""
    allowed_costs = list(run.policy.get("allow") or ())
    allow = ["--allow", ",".join(allowed_costs)] if run.live and allowed_costs not in ([], ["free"]) else []
    out = ["--out", run.invocation.out] if run.invocation.out else []
    suite = [] if run.invocation.installed else ["probes"]
    return shlex.join([*_probe_program(run), *suite, "--cause", cause.id, *_target_options(run), *out, *allow])


def format_accept_command(run: Run, cause: Cause) -> str:
    """Return the command that accepts all drifts of a cause, in which a person fills in the reason."""
    target = [] if run.target == "live" else ["--target", run.target]
    results = ["--run", f"{run.invocation.out or provider_folders.RUNS}/{run.run}"]
    options = ["--cause", cause.id, *target, *_catalog_option(run), *results, "--reason", _REASON_PLACEHOLDER]
    return shlex.join(["catalog-probe", "catalog", "accept", *options])


def list_step_commands(run: Run, result: Result) -> list[StepCommand]:
    """Return the command of each step of the last attempt, up to the last step that differs.

    The list is empty if no step has a `curl` line: then `format_probe_command` says all there is to say. The mock that
    ran inside a run is gone with its port, so no step of such a run has one.
    """
    if run.invocation.embedded or not result.attempts:
        return []
    steps = [_format_step(run, result, exchange) for exchange in _select_steps(result)]
    return steps if any(not step.obstacle for step in steps) else []


def _select_steps(result: Result) -> list[Exchange]:
    """Return setup and judged exchanges up to the last one that differs; of more than `_MAX_STEPS` the last ones."""
    attempt, mismatched_steps = result.attempts[-1], list_mismatched_steps(result)
    steps: list[Exchange] = []
    end = 0
    for exchange, endpoint in zip(attempt.exchanges, list_exchange_endpoints(result, attempt), strict=True):
        if exchange.label not in (CONTROL, CLEANUP):
            steps.append(exchange)
            if (exchange.label, endpoint) in mismatched_steps:
                end = len(steps)
    return steps[: end or None][-_MAX_STEPS:]


def _format_step(run: Run, result: Result, exchange: Exchange) -> StepCommand:
    provider = result.address.provider
    request = exchange.request
    if run.invocation.traffic:
        request = _name_recorded_key(request, provider)
    key_variables = _list_key_variables(request, provider)
    obstacle = _find_obstacle(exchange, request)
    if not obstacle and run.policy.get("upstream") and "x-mock-session" in request.headers:
        obstacle = "the run arms its fault at the upstream"
    if not obstacle and _has_answer_naming(key_variables, result, provider):
        obstacle = "an answer names the variable of its key"
    if obstacle:
        return StepCommand(exchange, format_probe_command(run, result), obstacle)
    words = list_curl_words(_use_real_names(run.invocation.names.get(provider, {}), request))
    for name in key_variables & run.invocation.keys.keys():  # keys of a mock are no secrets
        words = [word.replace(f"${{{name}}}", run.invocation.keys[name]) for word in words]
    return StepCommand(exchange, " ".join(_quote_word(word, key_variables) for word in words))


def list_curl_words(request: Request) -> list[str]:
    """Return the words of the `curl` command that sends a request over HTTP.

    >>> from catalog_probe.catalog.model import Request
    >>> list_curl_words(Request("GET", "https://api.example/v1/models", {"x-api-key": "${PA_API_KEY}"}))
    ['curl', '-i', 'https://api.example/v1/models', '-H', 'x-api-key: ${PA_API_KEY}']
    """
    method, body = request.method.upper(), _format_body(request.body)
    if body is None and method in ("POST", "PUT", "PATCH"):
        body = ""  # without data curl sends no content-length, which some servers refuse (411)
    words = ["curl", "-i"]
    if any(bracket in request.url for bracket in "[]{}"):
        words.append("--globoff")  # else curl takes brackets for a range of URLs
    if method == "HEAD":
        words.append("--head")
    elif method != ("GET" if body is None else "POST"):
        words += ["-X", method]
    words.append(request.url)
    headers = {
        name: value
        for name, value in request.headers.items()
        if name.lower() not in _SET_BY_CURL and _HEADER_NAME.fullmatch(name)
    }
    for name, value in headers.items():
        words += ["-H", f"{name}: {value}" if value else f"{name};"]  # with a colon, curl would leave it out
    if body is not None:
        if "content-type" not in map(str.lower, headers):
            words += ["-H", "content-type:"]  # leaves out the type of a form, which curl would add
        words += ["--data-raw", body]  # not `--data`, which would read a file if the body began with `@`
    return words


def _format_body(body: Json) -> str | None:
    """Return the body as it was sent: JSON in ASCII, as the wire writes it."""
    return body if body is None or isinstance(body, str) else json.dumps(body)


def _find_obstacle(exchange: Exchange, request: Request) -> str:
    """Return why no `curl` line can send the request as it was sent, e.g. `over gRPC`; empty if one can."""
    if request.method.upper() == "GRPC" or (exchange.response is not None and exchange.response.grpc is not None):
        return "over gRPC"
    if request.url.startswith(("ws:", "wss:")):
        return "over a WebSocket"
    if not request.url.startswith(("http:", "https:")):
        return "its URL was not recorded"
    headers = {name.lower(): value for name, value in request.headers.items()}
    head, body = "".join((request.method, request.url, *headers.values())), _format_body(request.body) or ""
    if _HIDDEN.search(head + body):
        return "a part of it is hidden"
    is_text = isinstance(request.body, str)
    if "expect" in headers or (is_text and _NO_TEXT.search(body)):
        return "its body is binary, or was only announced"
    if not is_text and body and "x-www-form-urlencoded" in headers.get("content-type", ""):
        return "the recording took its form apart"
    # Pasted into a terminal, a control character is a key that is pressed, and the page shows it by its name.
    can_be_pasted = head.isprintable() and body.replace("\n", "").isprintable()
    if not can_be_pasted or escape_hidden(head + body) != head + body:
        return "it has characters that cannot be pasted, as every multipart body has"
    if len(head + body) > _MAX_LINE_LENGTH:
        return "it is too long for a command line"
    return ""


def _name_recorded_key(request: Request, provider: str) -> Request:
    """Put the provider's own variable where a recording has no key: `Bearer [redacted]` -> `Bearer ${PC_API_KEY}`."""
    headers = {
        name: _HIDDEN.sub(f"${{{provider.upper()}_API_KEY}}", value) if _KEY_HEADER.fullmatch(name) else value
        for name, value in request.headers.items()
    }
    return replace(request, headers=headers)


def _list_key_variables(request: Request, provider: str) -> frozenset[str]:
    """Return the variables that the shell may expand in a request, e.g. `PA_API_KEY`.

    A provider may write `${AWS_SECRET_ACCESS_KEY}` into an id that a later step sends back to it. So a variable that is
    not named after the provider, as a target file may name one, counts in a header for keys alone.
    """
    texts = [request.url, *request.headers.values(), *list_strings_and_names(request.body)]
    in_key_headers = [value for header, value in request.headers.items() if _KEY_HEADER.fullmatch(header)]
    own = {name for name in _find_variables(texts) if _is_named_after(provider, name)}
    return frozenset(own | _find_variables(in_key_headers))


def _has_answer_naming(variables: frozenset[str], result: Result, provider: str) -> bool:
    """Whether an answer names a variable of another name: then the provider may have issued it as a token."""
    others = {name for name in variables if not _is_named_after(provider, name)}
    exchanges = [exchange for attempt in result.attempts for exchange in attempt.exchanges]
    return bool(others) and not others.isdisjoint(_find_variables(str(exchange.response) for exchange in exchanges))


def _find_variables(texts: Iterable[str]) -> set[str]:
    return {name for text in texts for name in _VARIABLE.findall(text)}


def _is_named_after(provider: str, variable: str) -> bool:
    return variable.startswith(f"{provider.upper()}_")


def _quote_word(word: str, variables: frozenset[str]) -> str:
    """Quote a text as one word of any shell, in which the shell expands these variables and nothing else.

    >>> _quote_word("Bearer ${PC_API_KEY}", frozenset({"PC_API_KEY"}))
    '"Bearer ${PC_API_KEY}"'
    >>> _quote_word("a key costs $1", frozenset())
    "'a key costs $1'"
    """
    if not variables:
        return shlex.quote(word)
    pieces = re.split("(" + "|".join(rf"\$\{{{name}\}}" for name in variables) + ")", word)
    literals, expansions = pieces[::2], pieces[1::2]
    if expansions and all(map(_NEEDS_NO_ESCAPES.fullmatch, literals)):
        return f'"{word}"'
    quoted = [shlex.quote(literal) if literal else "" for literal in literals]
    return quoted[0] + "".join(f'"{name}"{text}' for name, text in zip(expansions, quoted[1:], strict=True)) or "''"


def _use_real_names(pairs: Mapping[str, _NamePair], request: Request) -> Request:
    """Return the request as the provider received it; `pairs` are the target's renamings by field.

    For example `pa_file_1` -> `real_file_1`, with the pair `{"stand_in": "pa_", "real": "real_"}` of `id_prefix`.
    """
    if not pairs:
        return request
    key_header, header_prefix, id_prefix = (
        pairs.get(field, _SAME_NAME) for field in ("key_header", "header_prefix", "id_prefix")
    )

    def rename_header(name: str) -> str:
        is_key = name.lower() == key_header["stand_in"]
        return key_header["real"] if is_key else _replace_prefix(name.lower(), header_prefix)

    parts = urlsplit(request.url)
    path = "/".join(_replace_prefix(segment, id_prefix) for segment in parts.path.split("/"))
    parameters = (parameter.partition("=") for parameter in parts.query.split("&"))
    query = "&".join(f"{name}{equals}{_replace_prefix(value, id_prefix)}" for name, equals, value in parameters)
    return replace(
        request,
        url=parts._replace(path=path, query=query).geturl(),
        headers={rename_header(name): value for name, value in request.headers.items()},
        body=map_strings(request.body, lambda text: _replace_prefix(text, id_prefix)),
    )


def _replace_prefix(text: str, pair: _NamePair) -> str:
    stand_in = pair["stand_in"]
    return pair["real"] + text.removeprefix(stand_in) if stand_in and text.startswith(stand_in) else text


def _probe_program(run: Run) -> list[str]:
    return ["catalog-probe", "probe"] if run.invocation.installed else ["pytest"]


def _catalog_option(run: Run) -> list[str]:
    return ["--catalog", run.invocation.catalog] if run.invocation.catalog else []


def _target_options(run: Run) -> list[str]:
    """Return the options that select the same target, records and traffic."""
    invocation = run.invocation
    target = invocation.target
    if not target and not invocation.traffic and not invocation.revision:
        target = run.target
    return [
        *(["--target", target] if target not in ("", "mock") else []),
        *(["--upstream", upstream.rpartition(":")[2]] if (upstream := str(run.policy.get("upstream") or "")) else []),
        *_catalog_option(run),
        *(["--traffic", *invocation.traffic] if invocation.traffic else []),
    ]
