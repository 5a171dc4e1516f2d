"""Reproduction scripts: all requests that led to an answer, setup first, as one script for bash.

A value that an answer issued and a later request sent (an id, a token) is taken from the new answer when the script
runs. If the run had its own mock, the script starts one again and sets its keys, which are no secrets. For a live
target the script asks for the keys by name, and uses the provider's real names of headers and ids.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from catalog_probe.catalog.model.labels import CLEANUP, CONTROL, UNJUDGED_LABELS
from catalog_probe.catalog.text.json_tree import list_strings, map_strings
from catalog_probe.reports.content.finding_endpoints import list_exchange_endpoints, list_mismatched_steps
from catalog_probe.reports.exchanges.exchange_views import describe_answer
from catalog_probe.reports.exchanges.real_names import NamePairs, use_real_names
from catalog_probe.reports.exchanges.shell_commands import format_shell_command

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Result, Run
    from catalog_probe.catalog.model import Exchange, Json, Request

_MIN_ISSUED_LENGTH = 6  # characters; a shorter value would be found in later requests by chance
_MAX_EXCHANGES = 24  # in one script; of more, only the setup and those in which something differs

_VARIABLE = re.compile(r"\$\{([A-Z][A-Z0-9_]*)\}")
_ISSUED_VALUE = re.compile(r"[\w{}.:-]+")

_Path = tuple[str | int, ...]

_TAKE_FUNCTION = """\
take() { python3 -c 'import json, sys
value = json.loads(open(sys.argv[1], newline="").read().rpartition("\\r\\n\\r\\n")[2])
for name in json.loads(sys.argv[2]): value = value[name]
print(value)' "$@"; }"""
_START_MOCK = """\
# the mock of this run ended with it: another one takes its place
coproc MOCK {{ exec catalog-probe mock --port {port}; }}
trap 'kill "$MOCK_PID"' EXIT
read -r ready <&"${{MOCK[0]}}\""""
_SET_GRPC_HOST = """\
{variable}=$(python3 -c 'import json, sys
print(json.loads(sys.argv[1])["providers"]["{provider}"]["grpc_host"])' "$ready")"""


@dataclass(frozen=True, slots=True)
class _IssuedValue:
    """A value that an answer issued and a later request sends."""

    step: int
    """The number of the exchange whose answer has it."""
    path: _Path
    value: str
    variable: str


def build_script(run: Run, result: Result) -> str:
    """Return the script; empty if nothing was sent."""
    provider, exchanges = result.address.provider, _select_exchanges(result)
    issued_values = _find_issued_values(exchanges, provider)
    has_mock_grpc = run.invocation.embedded and any(map(_is_grpc, exchanges))
    host_variable = f"{provider.upper()}_GRPC_HOST" if has_mock_grpc else ""
    names = run.invocation.names.get(provider, {})
    steps = "\n\n".join(
        _format_step(number, _use_host_variable(exchange, host_variable), provider, issued_values, names)
        for number, exchange in enumerate(exchanges, start=1)
    )
    head = [
        *_iterate_mock_lines(run, exchanges, host_variable, provider),
        *_iterate_key_lines(run, steps, {host_variable, *(issued.variable for issued in issued_values)}),
    ]
    if issued_values:
        head += ["seen=$(mktemp -d)", _TAKE_FUNCTION]
    return "\n".join([*head, "", steps]) if head else steps


def _select_exchanges(result: Result) -> list[Exchange]:
    """Return the setup and the judged exchanges of the last attempt, up to the last one that differs."""
    if not result.attempts:
        return []
    attempt, mismatched_steps = result.attempts[-1], list_mismatched_steps(result)
    exchanges: list[Exchange] = []
    deviant_positions: list[int] = []
    for exchange, endpoint in zip(attempt.exchanges, list_exchange_endpoints(result, attempt), strict=True):
        if exchange.label in (CONTROL, CLEANUP):
            continue
        if (exchange.label, endpoint) in mismatched_steps:
            deviant_positions.append(len(exchanges))
        exchanges.append(exchange)
    if deviant_positions:
        exchanges = exchanges[: deviant_positions[-1] + 1]
    if len(exchanges) > _MAX_EXCHANGES:
        exchanges = [
            exchange
            for position, exchange in enumerate(exchanges)
            if position in deviant_positions or exchange.label in UNJUDGED_LABELS
        ]
    return exchanges[:_MAX_EXCHANGES]


def _format_step(
    number: int, exchange: Exchange, provider: str, issued_values: Sequence[_IssuedValue], names: NamePairs
) -> str:
    """Return a command, the answer that it got, and the lines that take issued values from the new answer."""
    earlier = {issued.value: f"${{{issued.variable}}}" for issued in issued_values if issued.step < number}
    sent = use_real_names(names, replace(exchange, request=_replace_values(exchange.request, earlier)))
    lines = [f"# {number}. {exchange.label}: {describe_answer(exchange)}", format_shell_command(sent, provider)]
    issued_here = [issued for issued in issued_values if issued.step == number]
    if issued_here:
        lines[1] += f' | tee "$seen/{number}"'
    for issued in issued_here:
        lines.append(f'{issued.variable}=$(take "$seen/{number}" {shlex.quote(json.dumps(issued.path))})')
    return "\n".join(lines)


def _find_issued_values(exchanges: Sequence[Exchange], provider: str) -> list[_IssuedValue]:
    """Find the values that an answer was the first to name and that a later request sends."""
    issued_values: dict[str, _IssuedValue] = {}
    request_texts = [_join_request_texts(exchange.request) for exchange in exchanges]
    for number, exchange in enumerate(exchanges[:-1], start=1):
        sent, sent_later = "".join(request_texts[:number]), "".join(request_texts[number:])
        for path, value in _iterate_candidates(exchange.response.body if exchange.response else None):
            if value in sent_later and value not in sent and value not in issued_values:
                variable = f"{provider.upper()}_SEEN_{len(issued_values) + 1}"
                issued_values[value] = _IssuedValue(number, path, value, variable)
    return list(issued_values.values())


def _iterate_candidates(value: Json, path: _Path = ()) -> Iterator[tuple[_Path, str]]:
    """Yield the strings of a body that may be ids or tokens, with their paths."""
    if isinstance(value, Mapping):
        for name, member in value.items():
            yield from _iterate_candidates(member, (*path, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _iterate_candidates(item, (*path, index))
    elif isinstance(value, str) and len(value) >= _MIN_ISSUED_LENGTH and _ISSUED_VALUE.fullmatch(value):
        yield path, value


def _join_request_texts(request: Request) -> str:
    return "\n".join((request.url, *request.headers.values(), *list_strings(request.body)))


def _replace_values(request: Request, variables: Mapping[str, str]) -> Request:
    """Return the request with variables in place of issued values."""
    if not variables:
        return request

    def replace_in(text: str) -> str:
        for value, variable in variables.items():
            text = text.replace(value, variable)
        return text

    headers = {name: replace_in(value) for name, value in request.headers.items()}
    return replace(request, url=replace_in(request.url), headers=headers, body=map_strings(request.body, replace_in))


def _is_grpc(exchange: Exchange) -> bool:
    return exchange.request.method.upper() == "GRPC"


def _use_host_variable(exchange: Exchange, variable: str) -> Exchange:
    """Point a gRPC call at the host in a variable, because the mock uses any free port for gRPC."""
    if not variable or not _is_grpc(exchange):
        return exchange
    url = exchange.request.url
    path = urlsplit(url if "//" in url else f"//{url}").path
    return replace(exchange, request=replace(exchange.request, url=f"http://${{{variable}}}{path}"))


def _iterate_mock_lines(run: Run, exchanges: Sequence[Exchange], host_variable: str, provider: str) -> Iterator[str]:
    """Yield the lines that start the mock again, if it ended with the run."""
    ports = {urlsplit(exchange.request.url).port for exchange in exchanges if not _is_grpc(exchange)}
    if run.invocation.embedded and (host_variable or ports):
        yield _START_MOCK.format(port=min((port for port in ports if port), default=0))
        if host_variable:
            yield _SET_GRPC_HOST.format(variable=host_variable, provider=provider)


def _iterate_key_lines(run: Run, steps: str, script_variables: set[str]) -> Iterator[str]:
    """Yield the lines that set the keys of a mock, or demand those of a live target."""
    for name in dict.fromkeys(_VARIABLE.findall(steps)):
        if name in run.invocation.keys:
            yield f"export {name}={shlex.quote(run.invocation.keys[name])}"
        elif name not in script_variables:
            yield f': "${{{name}:?set it to the key that the run had}}"'
