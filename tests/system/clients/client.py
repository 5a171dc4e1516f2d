"""The interface of a client under test: its calls and its failures."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Callable

MODEL = "mock-small"
ANSWER = "The mock heard: Hello"
MESSAGES = [{"role": "user", "content": "Hello"}]
NAMING_THE_TOOL = [{"role": "user", "content": "use get_weather"}]
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CHAT_TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": PARAMETERS}}


class Forecast(BaseModel):
    """The type that structured output is requested as."""

    city: str
    days: int


@dataclass(frozen=True)
class Endpoint:
    """The address, key and model that a client uses."""

    url: str
    key: str
    model: str


@dataclass(frozen=True)
class Client:
    """One client of one provider: its calls, and its behaviour when the provider fails.

    `chat(endpoint, text)` and `stream(endpoint, text)` return the text, `tool(endpoint)` the name of the called
    function, and `structured(endpoint)` a forecast. A call that the client lacks is None.
    """

    package: str
    provider: str
    path: str
    chat: Callable[[Endpoint, str], Any]
    stream: Callable[[Endpoint, str], Any] | None = None
    tool: Callable[[Endpoint], Any] | None = None
    structured: Callable[[Endpoint], Any] | None = None
    bad_key: str = ""
    unknown_model: str = ""
    overloaded: tuple[str, int] = ("", 1)
    """The error class that is raised in the end, and the number of attempts."""
    broken: str = "Exception"
    """The error class for a failure in the middle of a stream."""
    broken_since: tuple[str, int] | None = None
    """The distribution and major version since which the client notices that failure."""
    too_long: str = "BadRequestError"
    """The error class for a context that is too long."""
    retries: bool = True
    """Whether it retries a rate limit by itself."""
    model: str = MODEL
    is_there: Callable[[], bool] | None = None
    """Whether the client is installed, if importing its package is not enough to know."""

    @property
    def notices_a_broken_stream(self) -> bool:
        if self.broken_since is None:
            return True
        distribution, since = self.broken_since
        return int(version(distribution).partition(".")[0]) >= since

    @property
    def is_installed(self) -> bool:
        if self.is_there is not None:
            return self.is_there()
        return is_installed(self.package)


def is_installed(package: str) -> bool:
    """Whether a package can be imported, whose parent may not be there either."""
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False


class Failed(Exception):
    """A client that is a process failed."""


def make_failure(names: str) -> Failed:
    """Return a failure of a client process whose class has the names that the process reported."""
    kind: type[Failed] = type(names, (Failed,), {})
    return kind()


def module(name: str) -> Any:
    """Import a module that may not be installed, untyped."""
    return import_module(name)
