"""Under which revision each provider of a target is asked: its usual one, or another that is named."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.files.manifest import Revisions, manifest
from catalog_probe.catalog.model.errors import UserError, suggest_similar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from catalog_probe.probes.targets.target import Provider, Target


class RevisionError(UserError):
    """A revision that nobody can be asked for: one line saying which, and what to do."""


def usual(provider: Provider) -> str:
    """The revision under which a provider is asked each night; empty where nothing selects one, or each endpoint does.

    What the target always sends, else the default of the manifest.
    """
    known = _of_header(provider.name)
    if known is None:
        return ""
    return provider.headers.get(known.header, "") or known.default


def asked(target: Target, wanted: Sequence[str], chosen: Iterable[str]) -> dict[str, str]:
    """Provider -> the revision that was asked for in place of its usual one, of the providers chosen.

    Each of `wanted` is `VALUE`, of the providers that know it, or `PROVIDER:VALUE`, where it may be any.

    Raises:
        RevisionError: nobody can be asked for one.
    """
    here = {name: target.providers[name] for name in chosen if name in target.providers}
    found: dict[str, str] = {}
    for text in wanted:
        found |= _named(here, text)
    return {name: value for name, value in found.items() if value != usual(here[name])}


def why_not(name: str) -> str:
    """Why a provider cannot be asked under a revision."""
    if manifest(name).revisions is not None:
        return f"{name} has its revisions in the path: each is an endpoint of its own, and every run asks them all"
    return f"of {name} no revision is documented"


def under(target: Target, revisions: Mapping[str, str]) -> Target:
    """The target, each provider asked under its revision: the one given, else its usual one."""
    providers = {
        name: _under(provider, revisions.get(name, usual(provider))) for name, provider in target.providers.items()
    }
    return replace(target, providers=providers)


def _under(provider: Provider, value: str) -> Provider:
    known = _of_header(provider.name)
    if known is None or not value:
        return provider
    return replace(provider, headers={**provider.headers, known.header: value})


def _named(here: Mapping[str, Provider], text: str) -> dict[str, str]:
    name, colon, value = text.partition(":")
    if colon and name in here:
        if not value:
            raise RevisionError(f"--revision {text}: names no revision", f"write {name}:VALUE")
        if _of_header(name) is None:
            raise RevisionError(f"--revision {text}: {why_not(name)}", "leave it out")
        return {name: value}
    headers = {each: _of_header(each) for each in here}
    known = {each: () if header is None else header.values for each, header in headers.items()}
    found = {each: text for each, values in known.items() if text in values}
    if not found:
        every = [value for values in known.values() for value in values]
        told = ", ".join(f"{each}:{value}" for each, values in known.items() for value in values)
        mend = suggest_similar(text, every) or (f"they are {told}" if told else "no provider here has any")
        raise RevisionError(f"--revision {text}: no provider here knows it", f"{mend}; any other as PROVIDER:VALUE")
    return found


def _of_header(name: str) -> Revisions | None:
    """The revisions of a provider, where a header selects them."""
    known = manifest(name).revisions
    return known if known is not None and known.header else None
