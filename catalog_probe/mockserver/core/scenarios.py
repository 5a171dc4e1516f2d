"""Scenarios: states of a provider that no request can cause (`X-Mock-Scenario`).

`X-Mock-Scenario: NAME[;param=value...][;times=N][, NAME...]`. A scenario names a cause (`payment_problem`), never an
answer. The code that serves the request takes it with `Context.take` and behaves accordingly. A success whose scenario
no code took is refused, so that a scenario is never silently ignored.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.clock import parse_duration

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.errors import ErrorRow


TIMES = "times"

MAX_DIGITS = 9  # of a number in a header: seconds, milliseconds or requests

MAX_ECHOED = 100  # characters of an unknown name that the answer repeats


class MockMisuse(Exception):
    """A mistake in using the mock.

    It is answered 400 with `{"mock_error": ...}`, never in a provider's envelope.
    """


@dataclass(frozen=True)
class Param:
    """A parameter of a scenario; `read` parses its text and raises ValueError."""

    name: str
    read: Callable[[str], Any]
    help: str
    default: Any = None
    required: bool = False


def choice(name: str, options: Iterable[str], help: str, *, default: str | None = None) -> Param:
    """Declare a parameter that is one of `options`; required if it has no default."""
    allowed = tuple(options)

    def read(text: str) -> str:
        if text not in allowed:
            raise ValueError(f"{text!r} is none of {', '.join(allowed)}")
        return text

    return Param(name, read, f"{help} One of {', '.join(allowed)}.", default, required=default is None)


def read_whole_number(text: str, minimum: int) -> int:
    """Return an integer from `minimum` to a thousand million, which are 31 years of seconds.

    Raises:
        ValueError: it is none.
    """
    if text.isdecimal() and len(text) <= MAX_DIGITS and int(text) >= minimum:
        return int(text)
    raise ValueError(f"{text!r} is not an integer of at least {minimum} and at most {MAX_DIGITS} digits")


def whole_number(name: str, help: str, *, default: int | None = None, minimum: int = 0) -> Param:
    """Declare an integer of at least `minimum`; required if it has no default."""
    return Param(name, partial(read_whole_number, minimum=minimum), help, default, required=default is None)


def duration(name: str, help: str) -> Param:
    """Declare a required duration such as `59m59s`, in seconds."""
    return Param(name, parse_duration, help, required=True)


@dataclass(frozen=True)
class Scenario:
    """One scenario that a provider declares.

    Args:
        row: the error of any authenticated call under it; None if an endpoint acts on it itself.
    """

    name: str
    description: str
    params: tuple[Param, ...] = ()
    row: ErrorRow | None = None


@dataclass(slots=True)
class ActiveScenario:
    """The scenario of one request, with its parameters read.

    Args:
        taken: whether code acted on it.
        deferred: whether a WebSocket acts on it only after the handshake; if nothing does, it is refused there.
        queued: the queue's entry that it came from; it goes back there if nothing acts on it.
        declared: the row of the provider's table.
    """

    name: str
    params: Mapping[str, Any]
    taken: bool = False
    deferred: bool = False
    queued: QueuedScenario | None = None
    declared: Scenario | None = None


@dataclass(frozen=True, slots=True)
class ScenarioRequest:
    """One scenario of a header, checked; `times` is None if it never ends."""

    name: str
    params: Mapping[str, Any]
    times: int | None
    declared: Scenario | None = None

    def activate(self, queued: QueuedScenario | None = None) -> ActiveScenario:
        """Return the scenario for one request."""
        return ActiveScenario(self.name, self.params, queued=queued, declared=self.declared)


@dataclass(slots=True)
class QueuedScenario:
    """A scenario that waits, as each provider reads it, for `left` more requests."""

    text: str
    by_provider: Mapping[str, ScenarioRequest]
    left: int

    def describe(self) -> dict[str, Any]:
        """Return the entry of `GET /__mock__/next`."""
        return {"scenario": self.text, "times": self.left, "providers": sorted(self.by_provider)}


def find_scenario_for_use(sequence: Iterable[ScenarioRequest], use: int) -> ActiveScenario | None:
    """Return the scenario of the `use`-th request (from 1) with this sequence, if any."""
    for request in sequence:
        if request.times is None or use <= request.times:
            return request.activate()
        use -= request.times
    return None


class ScenarioRegistry:
    """All scenarios, by provider."""

    def __init__(self) -> None:
        self._scenarios: dict[tuple[str, str], Scenario] = {}
        self._providers: dict[str, list[str]] = {}
        self._errors: dict[tuple[str, str], Scenario | str] = {}
        self._citations: dict[tuple[str, str], str] = {}

    @property
    def providers(self) -> tuple[str, ...]:
        """All providers that declared a scenario."""
        return tuple(dict.fromkeys(provider for provider, _ in self._scenarios))

    def add(self, provider: str, scenarios: Iterable[Scenario]) -> None:
        """Declare the scenarios of a provider."""
        for scenario in scenarios:
            if (provider, scenario.name) in self._scenarios:
                raise ValueError(f"scenario {scenario.name} is declared twice for {provider}")
            self._scenarios[provider, scenario.name] = scenario
            self._providers.setdefault(scenario.name, []).append(provider)

    def add_errors(self, provider: str, errors: Mapping[str, Scenario | str]) -> None:
        """Declare the errors that can be armed by a citation: each with its fault, or the scenario that causes it."""
        for citation, error in errors.items():
            if isinstance(error, Scenario):
                error = replace(error, name=citation)
            self._errors[provider, citation] = error
            plain = make_plain(citation)
            if (provider, plain) in self._citations:
                raise ValueError(f"{provider}: two citations become {plain!r} in an address")
            self._citations[provider, plain] = citation
            self._providers.setdefault(citation, []).append(provider)

    def read(self, provider: str, header: str) -> tuple[ScenarioRequest, ...]:
        """Read the header's scenarios for `provider`, in order.

        Raises:
            MockMisuse: the header is wrong; the message says how.
        """
        sequence = tuple(self._read_one(provider, part.strip()) for part in header.split(","))
        endless = [request.name for request in sequence[:-1] if request.times is None]
        if endless:
            raise MockMisuse(f"scenario {endless[0]!r} never ends, so what follows it never comes; give it times=N")
        return sequence

    def _read_one(self, provider: str, text: str) -> ScenarioRequest:
        name, *pairs = (part.strip() for part in text.split(";"))
        name = self._citations.get((provider, name), name)
        error = self._errors.get((provider, name))
        if isinstance(error, str):
            return self._read_one(provider, ";".join((error, *pairs)))
        scenario = error or self._scenarios.get((provider, name))
        if scenario is None:
            raise MockMisuse(self._explain_unknown(provider, name))
        texts = _read_pairs(name, pairs)
        times = texts.pop(TIMES, None)
        try:
            count = None if times is None else read_whole_number(times, 1)
        except ValueError as error:
            raise MockMisuse(f"scenario {name!r}, {TIMES}: {error}") from None
        return ScenarioRequest(name, _read_params(scenario, texts), count, scenario)

    def _explain_unknown(self, provider: str, name: str) -> str:
        other_providers = self._providers.get(name)
        if other_providers:
            return f"scenario {name!r} does not belong to provider {provider!r}, only to {', '.join(other_providers)}"
        from difflib import get_close_matches  # slow to import, and rarely needed

        near = get_close_matches(name[:MAX_ECHOED], [*self._providers], n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        return f"unknown scenario {name[:MAX_ECHOED]!r}; {hint}GET /__mock__/scenarios lists them"

    def list_all(self) -> list[dict[str, Any]]:
        """List every scenario with its providers and parameters, by name."""
        entries: dict[tuple[str, str], dict[str, Any]] = {}
        for (provider, name), scenario in self._scenarios.items():
            entry = entries.setdefault((name, scenario.description), _describe(scenario))
            entry["providers"].append(provider)
        return sorted(entries.values(), key=lambda entry: (entry["name"], entry["providers"]))

    def list_errors(self) -> list[dict[str, Any]]:
        """List every error that can be armed: its citation, provider, parameters, and its scenario if it has one."""
        return [
            {
                "name": citation,
                "provider": provider,
                "params": [] if isinstance(error, str) else [param.name for param in error.params],
                "scenario": error if isinstance(error, str) else None,
                "status": None if isinstance(error, str) or error.row is None else error.row.status,
            }
            for (provider, citation), error in sorted(self._errors.items(), key=lambda item: item[0])
        ]


_UNPLAIN = re.compile(r"[^\w.]+")


def make_plain(citation: str) -> str:
    """Return the name of a citation in an address, where no client escapes anything: `2-7.5-insufficient_quota`."""
    return _UNPLAIN.sub("-", citation)


def _describe(scenario: Scenario) -> dict[str, Any]:
    params = [
        {"name": param.name, "required": param.required, "default": param.default, "help": param.help}
        for param in scenario.params
    ]
    return {"name": scenario.name, "providers": [], "params": params, "description": scenario.description}


def _read_pairs(name: str, pairs: list[str]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key or key in texts:
            raise MockMisuse(f"scenario {name!r}: {pair!r} is not one more param=value")
        texts[key] = value
    return texts


def _read_params(scenario: Scenario, texts: dict[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for param in scenario.params:
        text = texts.pop(param.name, None)
        if text is None:
            if param.required:
                raise MockMisuse(f"scenario {scenario.name!r} needs {param.name}: {param.help}")
            values[param.name] = param.default
            continue
        try:
            values[param.name] = param.read(text)
        except ValueError as error:
            raise MockMisuse(f"scenario {scenario.name!r}, {param.name}: {error}") from None
    if texts:
        raise MockMisuse(f"scenario {scenario.name!r} has no parameter {', '.join(map(repr, texts))}")
    return values


MAX_QUEUED = 1_000  # scenarios in one session


@dataclass
class ScenarioQueue:
    """The scenarios that wait in one session, in order."""

    waiting: deque[QueuedScenario] = field(default_factory=deque)

    def add(self, registry: ScenarioRegistry, text: str, providers: Iterable[str]) -> None:
        """Queue scenarios for the providers that declare them.

        Each is for one request, or for `times` of them.

        Raises:
            MockMisuse: none of the providers declares one of them, or too many wait already.
        """
        new = [_read_queued(registry, part.strip(), tuple(providers)) for part in text.split(",")]
        if len(self.waiting) + len(new) > MAX_QUEUED:
            raise MockMisuse(f"at most {MAX_QUEUED} scenarios can wait in a session")
        self.waiting.extend(new)

    def take_for(self, provider: str) -> ActiveScenario | None:
        """Take the first scenario that waits for a request to this provider."""
        for queued in self.waiting:
            if provider in queued.by_provider:
                queued.left -= 1
                if not queued.left:
                    self.waiting.remove(queued)
                return queued.by_provider[provider].activate(queued)
        return None

    def give_back(self, scenario: ActiveScenario | None) -> None:
        """Put a queued scenario that no code acted on back to the front."""
        if scenario is None or scenario.queued is None or scenario.taken:
            return
        if not scenario.queued.left:
            self.waiting.appendleft(scenario.queued)
        scenario.queued.left += 1
        scenario.queued = None


def _read_queued(registry: ScenarioRegistry, text: str, providers: tuple[str, ...]) -> QueuedScenario:
    by_provider: dict[str, ScenarioRequest] = {}
    failures: list[MockMisuse] = []
    for provider in providers:
        try:
            (by_provider[provider],) = registry.read(provider, text)
        except MockMisuse as failure:
            failures.append(failure)
    if not by_provider:
        raise failures[0]
    times = next(iter(by_provider.values())).times
    return QueuedScenario(text, by_provider, 1 if times is None else times)
