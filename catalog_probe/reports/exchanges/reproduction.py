"""How to see an answer again: one script of all that was sent for it, setup first, for bash.

What an answer handed out and a later request sent (an id, a token) is taken from the new answer when the script runs. A
mock that ended with its run is started again, and its keys, which are no secrets, are set; of a live target the script
asks for them by name, and headers and ids have the names that its provider knows.
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
from catalog_probe.reports.content.on_endpoints import differing, endpoints_of
from catalog_probe.reports.exchanges.exchanges import answer
from catalog_probe.reports.exchanges.real_names import Pairs, really
from catalog_probe.reports.exchanges.reproduce import shell

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Result, Run
    from catalog_probe.catalog.model import Exchange, Json, Request

SHORTEST = 6
"""Characters of a value that is looked for in later requests; shorter ones would be found by chance."""

LONGEST = 24
"""Exchanges in one script; of more, the setup and those in which something differs."""

_NAMED = re.compile(r"\$\{([A-Z][A-Z0-9_]*)\}")
_TAKE = """\
take() { python3 -c 'import json, sys
value = json.loads(open(sys.argv[1], newline="").read().rpartition("\\r\\n\\r\\n")[2])
for name in json.loads(sys.argv[2]): value = value[name]
print(value)' "$@"; }"""
_MOCK = """\
# the mock of this run ended with it: another one takes its place
coproc MOCK {{ exec catalog-probe mock --port {port}; }}
trap 'kill "$MOCK_PID"' EXIT
read -r ready <&"${{MOCK[0]}}\""""
_HOST = """\
{variable}=$(python3 -c 'import json, sys
print(json.loads(sys.argv[1])["providers"]["{provider}"]["grpc_host"])' "$ready")"""


@dataclass(frozen=True, slots=True)
class _Taken:
    """A value that an answer handed out and a later request sends."""

    step: int
    """The number of the exchange whose answer has it."""
    path: tuple[str | int, ...]
    value: str
    variable: str


def script(run: Run, result: Result) -> str:
    """The commands, one after another; empty where nothing was sent."""
    provider, exchanges = result.address.provider, _chosen(result)
    taken = _taken(exchanges, provider)
    grpc = run.invocation.embedded and any(_is_grpc(each) for each in exchanges)
    host = f"{provider.upper()}_GRPC_HOST" if grpc else ""
    names = run.invocation.names.get(provider, {})
    steps = [
        _step(number, _with_host(each, host), provider, taken, names) for number, each in enumerate(exchanges, start=1)
    ]
    text = "\n\n".join(steps)
    head = [*_mock(run, exchanges, host, provider), *_keys(run, text, host, taken)]
    if taken:
        head += ["seen=$(mktemp -d)", _TAKE]
    return "\n".join([*head, "", text]) if head else text


def _chosen(result: Result) -> list[Exchange]:
    """Of the last attempt: setup and what is judged, up to the last in which something differs."""
    if not result.attempts:
        return []
    attempt, differs = result.attempts[-1], differing(result)
    pairs = [
        (each, (each.label, endpoint) in differs)
        for each, endpoint in zip(attempt.exchanges, endpoints_of(result, attempt), strict=True)
        if each.label not in (CONTROL, CLEANUP)
    ]
    wrong = [at for at, (_, differs_here) in enumerate(pairs) if differs_here]
    pairs = pairs[: wrong[-1] + 1] if wrong else pairs
    if len(pairs) > LONGEST:
        pairs = [(each, here) for each, here in pairs if here or each.label in UNJUDGED_LABELS][:LONGEST]
    return [each for each, _ in pairs]


def _step(number: int, exchange: Exchange, provider: str, taken: Sequence[_Taken], names: Pairs) -> str:
    """One command, what it showed then, and what later ones take from its answer."""
    earlier = {each.value: f"${{{each.variable}}}" for each in taken if each.step < number}
    sent = really(names, replace(exchange, request=_with(exchange.request, earlier)))
    command = shell(sent, provider)
    lines = [f"# {number}. {exchange.label}: {answer(exchange)}", command]
    here = [each for each in taken if each.step == number]
    if here:
        lines[1] += f' | tee "$seen/{number}"'
        lines += [f'{each.variable}=$(take "$seen/{number}" {shlex.quote(json.dumps(each.path))})' for each in here]
    return "\n".join(lines)


def _taken(exchanges: Sequence[Exchange], provider: str) -> list[_Taken]:
    """The values that no request had sent when an answer first named them, and that a later one sends."""
    found: list[_Taken] = []
    said = [_said(each.request) for each in exchanges]
    for number, each in enumerate(exchanges[:-1], start=1):
        sent, later = "".join(said[:number]), "".join(said[number:])
        for path, value in _leaves(each.response.body if each.response else None):
            if value in later and value not in sent and all(value != known.value for known in found):
                found.append(_Taken(number, path, value, f"{provider.upper()}_SEEN_{len(found) + 1}"))
    return found


def _leaves(value: Json, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _leaves(item, (*path, name))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _leaves(item, (*path, number))
    elif isinstance(value, str) and len(value) >= SHORTEST and re.fullmatch(r"[\w{}.:-]+", value):
        yield path, value


def _said(request: Request) -> str:
    """All the text of a request."""
    return "\n".join((request.url, *request.headers.values(), *list_strings(request.body)))


def _with(request: Request, variables: Mapping[str, str]) -> Request:
    """The request with variables in place of values."""
    if not variables:
        return request

    def put(text: str) -> str:
        for value, variable in variables.items():
            text = text.replace(value, variable)
        return text

    headers = {name: put(value) for name, value in request.headers.items()}
    return replace(request, url=put(request.url), headers=headers, body=map_strings(request.body, put))


def _is_grpc(exchange: Exchange) -> bool:
    return exchange.request.method.upper() == "GRPC"


def _with_host(exchange: Exchange, variable: str) -> Exchange:
    """A gRPC call to the host that a variable names: a mock takes any free port for it."""
    if not variable or not _is_grpc(exchange):
        return exchange
    url = exchange.request.url
    parts = urlsplit(url if "//" in url else f"//{url}")
    there = f"http://${{{variable}}}{parts.path}"
    return replace(exchange, request=replace(exchange.request, url=there))


def _mock(run: Run, exchanges: Sequence[Exchange], host: str, provider: str) -> Iterator[str]:
    """What starts the mock again, where it ended with the run."""
    ports = {urlsplit(each.request.url).port for each in exchanges if not _is_grpc(each)}
    if run.invocation.embedded and (host or ports):
        yield _MOCK.format(port=min((port for port in ports if port), default=0))
        if host:
            yield _HOST.format(variable=host, provider=provider)


def _keys(run: Run, text: str, host: str, taken: Sequence[_Taken]) -> Iterator[str]:
    """What sets the keys of a mock, and asks for those of a live target."""
    own = {host, *(each.variable for each in taken)}
    for name in dict.fromkeys(_NAMED.findall(text)):
        if name in run.invocation.keys:
            yield f"export {name}={shlex.quote(run.invocation.keys[name])}"
        elif name not in own:
            yield f': "${{{name}:?set it to the key that the run had}}"'
