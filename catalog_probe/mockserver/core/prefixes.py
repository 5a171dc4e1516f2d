"""Prefixes: what the documents' neutral stand-ins stand for on the wire, and how lenient the mock is, from a TOML file.

The documents hide provider names behind stand-ins (`pa-version`, `PC-Organization`). By default the mock speaks the
stand-ins. With a file of the real prefixes an official SDK works against it; `clients.toml` is the one that is shipped
(`--clients`). One table a provider, all keys optional; each provider's package declares its keys and defaults in
`Provider.settings`, and `leniency.py` those that every table may have. the mock's `README.md` lists them all.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core import leniency
from catalog_probe.mockserver.core.providers import PROVIDER_NAMES

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.providers import Provider


class PrefixesError(Exception):
    """The prefixes file cannot be used; the text is one line for a person."""


CLIENT_NAMES_FILE = Path(__file__).with_name("clients.toml")


def read_prefixes(path: Path) -> Mapping[str, Any]:
    """The file's content, unchecked."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise PrefixesError(f"--prefixes {path}: {error.strerror}; name a TOML file that can be read") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PrefixesError(f"--prefixes {path}: broken TOML: {error}; mend it") from None


def merge_settings(providers: Iterable[Provider], given: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Each provider's settings: its defaults, replaced by what is given. A key nobody declares is refused.

    Tables of providers that there are and that are not served are left aside.
    """
    for name in given:
        if name not in PROVIDER_NAMES:
            raise PrefixesError(f"[{name}] is none of the providers {', '.join(PROVIDER_NAMES)}")
    return {
        provider.name: _checked(provider, {**leniency.DEFAULTS, **provider.settings}, given.get(provider.name, {}))
        for provider in providers
    }


def _checked(provider: Provider, defaults: Mapping[str, Any], given: Any) -> Mapping[str, Any]:
    name = provider.name
    if not isinstance(given, Mapping):
        raise PrefixesError(f"{name} is not a table")
    for key, value in given.items():
        if key not in defaults:
            raise PrefixesError(f"[{name}] has no key {key!r}; it has {', '.join(defaults)}")
        if key == "limits":
            _check_limits(name, value)
        elif type(value) is not type(defaults[key]):
            raise PrefixesError(f"[{name}] {key} is not of type {type(defaults[key]).__name__}")
        elif key.endswith(("_prefix", "_header")) and not _NAME.fullmatch(value):
            raise PrefixesError(f"[{name}] {key} is no part of a name of letters, digits, - and _: {value!r}")
        elif key == "models":
            _check_models(provider, value)
        elif isinstance(value, list) and not all(isinstance(each, str) for each in value):
            raise PrefixesError(f"[{name}] {key} is no list of texts: {value!r}")
    return {**defaults, **given}


_NAME = re.compile(r"[A-Za-z0-9_-]*")
"""What a header or an identifier may begin with; nothing else would reach the wire as it was written."""


def _check_models(provider: Provider, given: Mapping[str, Any]) -> None:
    for alias, model in given.items():
        if not isinstance(model, str) or (provider.models and model not in provider.models):
            known = ", ".join(sorted(provider.models))
            raise PrefixesError(
                f"[{provider.name}] models: {alias!r} stands in for {model!r}, which is none of {known}"
            )


def _check_limits(name: str, value: Any) -> None:
    number = isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0
    if not number and value != leniency.OFF:
        raise PrefixesError(f"[{name}] limits is neither {leniency.OFF!r} nor a number above 0: {value!r}")
