"""Selects the API revision under which each provider of a target is asked: its usual one, or another (`--revision`)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.files.manifest import Revisions, manifest
from catalog_probe.catalog.model.errors import UserError, suggest_similar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from catalog_probe.probes.targets.target import Provider, Target


class RevisionError(UserError):
    """A revision that no provider can be asked under."""


def usual_revision(provider: Provider) -> str:
    """Return the revision that a provider is asked under each night; empty if no header selects one.

    It is what the target always sends, else the default of the manifest.
    """
    revisions = _header_revisions(provider.name)
    if revisions is None:
        return ""
    return provider.headers.get(revisions.header, "") or revisions.default


def select_revisions(target: Target, texts: Sequence[str], selected: Iterable[str]) -> dict[str, str]:
    """Return by provider the revisions that replace the usual ones.

    Each of `texts` is `VALUE`, for the selected providers that know it, or `PROVIDER:VALUE`, where it may be any.

    Raises:
        RevisionError: no provider can be asked under one of them.
    """
    providers = {name: target.providers[name] for name in selected if name in target.providers}
    revisions: dict[str, str] = {}
    for text in texts:
        revisions |= _parse_revision(providers, text)
    return {name: value for name, value in revisions.items() if value != usual_revision(providers[name])}


def explain_no_revision(name: str) -> str:
    """Return why a provider cannot be asked under a revision."""
    if manifest(name).revisions is not None:
        return f"{name} has its revisions in the path: each is an endpoint of its own, and every run asks them all"
    return f"of {name} no revision is documented"


def with_revisions(target: Target, revisions: Mapping[str, str]) -> Target:
    """Return the target with each provider asked under the given revision, else its usual one."""
    providers = {}
    for name, provider in target.providers.items():
        header_revisions = _header_revisions(name)
        value = revisions.get(name, usual_revision(provider))
        if header_revisions is not None and value:
            provider = replace(provider, headers={**provider.headers, header_revisions.header: value})
        providers[name] = provider
    return replace(target, providers=providers)


def _parse_revision(providers: Mapping[str, Provider], text: str) -> dict[str, str]:
    name, colon, value = text.partition(":")
    if colon and name in providers:
        if not value:
            raise RevisionError(f"--revision {text}: names no revision", f"write {name}:VALUE")
        if _header_revisions(name) is None:
            raise RevisionError(f"--revision {text}: {explain_no_revision(name)}", "leave it out")
        return {name: value}
    known_values = {}
    for provider_name in providers:
        revisions = _header_revisions(provider_name)
        known_values[provider_name] = () if revisions is None else revisions.values
    selected = {provider_name: text for provider_name, values in known_values.items() if text in values}
    if not selected:
        pairs = [(provider_name, value) for provider_name, values in known_values.items() for value in values]
        listing = ", ".join(f"{provider_name}:{value}" for provider_name, value in pairs)
        mend = suggest_similar(text, [value for _, value in pairs])
        mend = mend or (f"they are {listing}" if listing else "no provider here has any")
        raise RevisionError(f"--revision {text}: no provider here knows it", f"{mend}; any other as PROVIDER:VALUE")
    return selected


def _header_revisions(name: str) -> Revisions | None:
    """Return the revisions of a provider if a header selects them."""
    revisions = manifest(name).revisions
    return revisions if revisions is not None and revisions.header else None
