"""Prefixes: what the documents' neutral stand-ins stand for on the wire, read from a `--prefixes` TOML file.

The documents hide provider names behind stand-ins (`pa-version`, `PC-Organization`). By default the mock speaks the
stand-ins. With a file of the real prefixes an official SDK works against it. One table a provider, all keys optional;
each provider's package declares its keys and defaults in `Provider.settings`:

    [pa]
    header_prefix = "pa-"            # pa-version, pa-beta, pa-organization-id, pa-ratelimit-...
    id_prefix = "pa_"                # pa_proj_doc_..., pa_chat_created
    key_header = "x-api-key"         # Authorization: Bearer is accepted as well
    versions = ["2023-06-01"]        # accepted values of pa-version
    legacy_versions = ["2023-01-01"] # valid, but refused by the endpoints that came later
    betas = ["files-api-2025-04-14"] # accepted values of pa-beta
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mockserver.providers import Provider


class PrefixesError(Exception):
    """The prefixes file cannot be used; the text is one line for a person."""


def read_file(path: Path) -> Mapping[str, Any]:
    """The file's content, unchecked."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PrefixesError(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PrefixesError(f"{path}: {error}") from None


def merged(providers: Iterable[Provider], given: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Each provider's settings: its defaults, replaced by what is given. A key nobody declares is refused."""
    defaults = {provider.name: provider.settings for provider in providers}
    for name in given:
        if name not in defaults:
            raise PrefixesError(f"[{name}] is none of the providers {', '.join(defaults)}")
    return {name: {**settings, **_checked(name, settings, given.get(name, {}))} for name, settings in defaults.items()}


def _checked(name: str, defaults: Mapping[str, Any], given: Any) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise PrefixesError(f"{name} is not a table")
    for key, value in given.items():
        if key not in defaults:
            raise PrefixesError(f"[{name}] has no key {key!r}; it has {', '.join(defaults)}")
        if type(value) is not type(defaults[key]):
            raise PrefixesError(f"[{name}] {key} is not of type {type(defaults[key]).__name__}")
    return given
