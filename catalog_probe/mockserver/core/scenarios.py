"""Scenarios: causes that no request can produce: `X-Mock-Scenario: NAME[;param=value...][;times=N][, NAME...]`.

A scenario names a cause (`payment_problem`), never an answer. Whoever serves the request takes the cause with
`Context.take` and behaves accordingly; a success that never looked at its scenario is refused, so that a scenario is
never silently ignored. Several causes, one after the other, strike a session's requests in turn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.clock import parse_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

TIMES = "times"

MOST_ECHOED = 100
"""Characters of a text that makes no sense which are repeated to whoever sent it."""


class MockMisuse(Exception):
    """The client misused the mock itself; answered 400 with `{"mock_error": ...}`, never in a provider's envelope."""


@dataclass(frozen=True)
class Param:
    """One parameter of a scenario: how its text is read, and what it means."""

    name: str
    read: Callable[[str], Any]
    help: str
    default: Any = None
    required: bool = False


def choice(name: str, options: Iterable[str], help: str, *, default: str | None = None) -> Param:
    """A parameter that is one of `options`; required when it has no default."""
    allowed = tuple(options)

    def read(text: str) -> str:
        if text not in allowed:
            raise ValueError(f"{text!r} is none of {', '.join(allowed)}")
        return text

    return Param(name, read, f"{help} One of {', '.join(allowed)}.", default, required=default is None)


def whole_number(name: str, help: str, *, default: int | None = None, minimum: int = 0) -> Param:
    """A parameter that is an integer of at least `minimum`."""

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < minimum:
            raise ValueError(f"{text!r} is not an integer of at least {minimum}")
        return int(text)

    return Param(name, read, help, default, required=default is None)


def duration(name: str, help: str, *, default: float | None = None) -> Param:
    """A parameter such as `59m59s`, read as seconds."""
    return Param(name, parse_duration, help, default, required=default is None)


@dataclass(frozen=True)
class Scenario:
    """One cause that a provider can suffer; the provider is the one that declares it."""

    name: str
    description: str
    params: tuple[Param, ...] = ()


@dataclass(slots=True)
class ActiveScenario:
    """A scenario that a request asked for, with its parameters read."""

    name: str
    params: Mapping[str, Any]
    taken: bool = field(default=False)
    later: bool = field(default=False)
    """Whether a WebSocket looks at it only once it is open; it is refused there if nobody takes it."""
    waits: Waiting | None = field(default=None)
    """What was set for the session's next requests and goes back there where it finds nothing to act on."""


@dataclass(frozen=True, slots=True)
class ScenarioRequest:
    """What a header said, checked: the cause, and for how many requests of the session it holds."""

    name: str
    params: Mapping[str, Any]
    times: int | None

    def active(self) -> ActiveScenario:
        """The cause, on one request."""
        return ActiveScenario(self.name, self.params)


@dataclass(slots=True)
class Waiting:
    """One cause that waits: what it is for each provider that knows it, and how many requests it is still for."""

    text: str
    by_provider: Mapping[str, ScenarioRequest]
    left: int

    def described(self) -> dict[str, Any]:
        """The cause as `GET /__mock__/next` tells it."""
        return {"scenario": self.text, "times": self.left, "providers": sorted(self.by_provider)}


def nth(sequence: Iterable[ScenarioRequest], use: int) -> ActiveScenario | None:
    """The cause that strikes the session's `use`-th request (from 1) that names the sequence; None after the last."""
    for asked in sequence:
        if asked.times is None or use <= asked.times:
            return asked.active()
        use -= asked.times
    return None


class Registry:
    """All scenarios, by provider."""

    def __init__(self) -> None:
        self._scenarios: dict[tuple[str, str], Scenario] = {}
        self._providers: dict[str, list[str]] = {}

    @property
    def providers(self) -> tuple[str, ...]:
        """All that declared one."""
        return tuple(dict.fromkeys(provider for provider, _ in self._scenarios))

    def add(self, provider: str, scenarios: Iterable[Scenario]) -> None:
        """Declare that `provider` can suffer `scenarios`."""
        for scenario in scenarios:
            if (provider, scenario.name) in self._scenarios:
                raise ValueError(f"scenario {scenario.name} is declared twice for {provider}")
            self._scenarios[provider, scenario.name] = scenario
            self._providers.setdefault(scenario.name, []).append(provider)

    def read(self, provider: str, header: str) -> tuple[ScenarioRequest, ...]:
        """Read the header's value for `provider`: its causes in order.

        Raises:
            MockMisuse: what is wrong with it.
        """
        sequence = tuple(self._read_one(provider, each.strip()) for each in header.split(","))
        endless = [asked.name for asked in sequence[:-1] if asked.times is None]
        if endless:
            raise MockMisuse(f"scenario {endless[0]!r} never ends, so what follows it never comes; give it times=N")
        return sequence

    def _read_one(self, provider: str, text: str) -> ScenarioRequest:
        name, *pairs = (part.strip() for part in text.split(";"))
        scenario = self._scenarios.get((provider, name))
        if scenario is None:
            raise MockMisuse(self._unknown(provider, name))
        given = _pairs(name, pairs)
        times = given.pop(TIMES, None)
        if times is not None and not (times.isdecimal() and int(times) > 0):
            raise MockMisuse(f"times={times!r} is not a positive integer")
        return ScenarioRequest(name, _read_params(scenario, given), int(times) if times else None)

    def _unknown(self, provider: str, name: str) -> str:
        elsewhere = self._providers.get(name)
        if elsewhere:
            return f"scenario {name!r} does not belong to provider {provider!r}, only to {', '.join(elsewhere)}"
        from difflib import get_close_matches  # only whoever mistypes one waits for it

        near = get_close_matches(name[:MOST_ECHOED], [*self._providers], n=1)
        meant = f"did you mean {near[0]}? " if near else ""
        return f"unknown scenario {name[:MOST_ECHOED]!r}; {meant}GET /__mock__/scenarios lists them"

    def listing(self) -> list[dict[str, Any]]:
        """Every scenario with its providers, parameters and description, for `GET /__mock__/scenarios`."""
        listed: dict[tuple[str, str], dict[str, Any]] = {}
        for (provider, name), scenario in self._scenarios.items():
            entry = listed.setdefault((name, scenario.description), _described(scenario))
            entry["providers"].append(provider)
        return sorted(listed.values(), key=lambda entry: (entry["name"], entry["providers"]))


def _described(scenario: Scenario) -> dict[str, Any]:
    params = [
        {"name": param.name, "required": param.required, "default": param.default, "help": param.help}
        for param in scenario.params
    ]
    return {"name": scenario.name, "providers": [], "params": params, "description": scenario.description}


def _pairs(name: str, pairs: list[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key or key in given:
            raise MockMisuse(f"scenario {name!r}: {pair!r} is not one more param=value")
        given[key] = value
    return given


def _read_params(scenario: Scenario, given: dict[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for param in scenario.params:
        text = given.pop(param.name, None)
        if text is None:
            if param.required:
                raise MockMisuse(f"scenario {scenario.name!r} needs {param.name}: {param.help}")
            values[param.name] = param.default
            continue
        try:
            values[param.name] = param.read(text)
        except ValueError as error:
            raise MockMisuse(f"scenario {scenario.name!r}, {param.name}: {error}") from None
    if given:
        raise MockMisuse(f"scenario {scenario.name!r} has no parameter {', '.join(map(repr, given))}")
    return values
