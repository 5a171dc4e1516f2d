"""The declaration of a provider, and its settings in a `--prefixes` file.

The documents hide provider names behind stand-ins (`pa-version`, `PC-Organization`); the mock uses these by default.
With the names of the official clients, `clients.toml` (`--clients`), an SDK works with it. There is one table for each
provider, all keys optional. `Provider.settings` declares a provider's keys and defaults, `leniency.py` those of all.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core import leniency

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Sequence

    from starlette.types import ASGIApp

    from catalog_probe.mockserver.core.faults import FaultTable
    from catalog_probe.mockserver.core.gateway import PathRow
    from catalog_probe.mockserver.core.scenarios import Scenario
    from catalog_probe.mockserver.core.world import World


@dataclass(frozen=True)
class Mount:
    """One host of a provider.

    Args:
        prefix: the first segment of its paths.
        addresses: the names of its address in the ready line.
        build: builds its HTTP app.
        sockets: builds its WebSocket app, if it has one.
        routes: the rows of its HTTP app, which `/__mock__/endpoints` lists.
    """

    prefix: str
    addresses: tuple[str, ...]
    build: Callable[[World], ASGIApp]
    sockets: Callable[[World], ASGIApp] | None = None
    routes: Sequence[PathRow] = ()


@dataclass(frozen=True)
class Provider:
    """What a provider's package exports as `PROVIDER`.

    Args:
        settings: the keys and defaults of its table in a `--prefixes` file; a value keeps the type of its default.
        listen: starts listeners other than HTTP on a host, and returns their addresses for the ready line.
        models: the models that other names may stand in for; any if empty.
        faults: the errors that a test arms by the row of the documents that states them.
        beside_http: patterns of what it serves beside HTTP, as the mock counts it: `WS /pc/v1/responses`.
    """

    name: str
    mounts: tuple[Mount, ...]
    scenarios: tuple[Scenario, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    listen: Callable[[World, str], Awaitable[Mapping[str, str]]] | None = None
    models: Collection[str] = ()
    faults: FaultTable = field(default_factory=dict)
    beside_http: tuple[str, ...] = ()


PROVIDER_NAMES = ("pa", "pb", "pc", "pd")
"""Each is a sub-package whose module `provider` exports `PROVIDER`."""

REAL_NAMES = {"anthropic": "pa", "gemini": "pb", "openai": "pc", "xai": "pd"}
"""Real name -> provider, as in the manifests, which the mock never reads."""


CLIENT_NAMES_FILE = Path(__file__).with_name("clients.toml")

_NAME_PART = re.compile(r"[A-Za-z0-9_-]*")  # anything else could not stand in a header name


class PrefixesError(Exception):
    """The prefixes file cannot be used; the text is one line for a person."""


def read_prefixes(path: Path) -> Mapping[str, Any]:
    """Return the file's content, unchecked.

    Raises:
        PrefixesError: it is no TOML file.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise PrefixesError(f"--prefixes {path}: {error.strerror}; name a TOML file that can be read") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PrefixesError(f"--prefixes {path}: broken TOML: {error}; mend it") from None


def merge_settings(providers: Iterable[Provider], tables: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return each provider's settings: its defaults, overruled by its table.

    Tables of providers that are not served are ignored.

    Raises:
        PrefixesError: a table, key or value is wrong.
    """
    tables = {REAL_NAMES.get(name, name): table for name, table in tables.items()}
    for name in tables:
        if name not in PROVIDER_NAMES:
            raise PrefixesError(f"[{name}] is none of the providers {', '.join(PROVIDER_NAMES)}")
    return {
        provider.name: _check_table(provider, {**leniency.DEFAULTS, **provider.settings}, tables.get(provider.name, {}))
        for provider in providers
    }


def _check_table(provider: Provider, defaults: Mapping[str, Any], table: Any) -> Mapping[str, Any]:
    name = provider.name
    if not isinstance(table, Mapping):
        raise PrefixesError(f"{name} is not a table")
    for key, value in table.items():
        if key not in defaults:
            raise PrefixesError(f"[{name}] has no key {key!r}; it has {', '.join(defaults)}")
        if key == "limits":
            _check_limits(name, value)
        elif type(value) is not type(defaults[key]):
            raise PrefixesError(f"[{name}] {key} is not of type {type(defaults[key]).__name__}")
        elif key.endswith(("_prefix", "_header")) and not _NAME_PART.fullmatch(value):
            raise PrefixesError(f"[{name}] {key} is no part of a name of letters, digits, - and _: {value!r}")
        elif key == "models":
            _check_models(provider, value)
        elif isinstance(value, list) and not all(isinstance(item, str) for item in value):
            raise PrefixesError(f"[{name}] {key} is no list of texts: {value!r}")
    return {**defaults, **table}


def _check_models(provider: Provider, models: Mapping[str, Any]) -> None:
    for alias, model in models.items():
        if not isinstance(model, str) or (provider.models and model not in provider.models):
            names = ", ".join(sorted(provider.models))
            raise PrefixesError(
                f"[{provider.name}] models: {alias!r} stands in for {model!r}, which is none of {names}"
            )


def _check_limits(name: str, value: Any) -> None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0
    if not is_number and value != leniency.OFF:
        raise PrefixesError(f"[{name}] limits is neither {leniency.OFF!r} nor a number above 0: {value!r}")
