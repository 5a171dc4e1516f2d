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
    """What structured output is asked for."""

    city: str
    days: int


@dataclass(frozen=True)
class Where:
    """Where a client is pointed, with which key and model."""

    url: str
    key: str
    model: str


@dataclass(frozen=True)
class Client:
    """One client of one provider: what it can be asked, and what it does when the provider fails.

    `chat(where, text)` and `stream(where, text)` give the text, `tool(where)` the name of the function that is called,
    `structured(where)` a forecast. What a client has not is None.
    """

    package: str
    provider: str
    path: str
    chat: Callable[[Where, str], Any]
    stream: Callable[[Where, str], Any] | None = None
    tool: Callable[[Where], Any] | None = None
    structured: Callable[[Where], Any] | None = None
    bad_key: str = ""
    unknown_model: str = ""
    overloaded: tuple[str, int] = ("", 1)
    """The class of what is raised in the end, and after how many attempts."""
    broken: str = "Exception"
    """The class of what is raised in the middle of a stream."""
    broken_since: tuple[str, int] | None = None
    """The distribution and the major version from which it notices that."""
    too_long: str = "BadRequestError"
    """The class of what is raised where the context is too long."""
    retries: bool = True
    """Whether it asks once more by itself after a rate limit."""
    model: str = MODEL
    there: Callable[[], bool] | None = None
    """Whether it is there, where that is more than whether its package can be imported."""

    @property
    def notices_a_broken_stream(self) -> bool:
        if self.broken_since is None:
            return True
        distribution, since = self.broken_since
        return int(version(distribution).partition(".")[0]) >= since

    @property
    def installed(self) -> bool:
        if self.there is not None:
            return self.there()
        return is_installed(self.package)


def is_installed(package: str) -> bool:
    """Whether a package can be imported, whose parent may not be there either."""
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False


class Failed(Exception):
    """A client that is a process failed."""


def failed(names: str) -> Failed:
    """The failure of a client that is a process, under the names that it tells."""
    kind: type[Failed] = type(names, (Failed,), {})
    return kind()


def module(name: str) -> Any:
    """A module that may not be installed, and brings no types where it is not."""
    return import_module(name)
