"""Under which revision each provider of a target is asked: its own first one, another that is named, or tonight's."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from catalog.model.errors import Mendable, did_you_mean
from catalog.reading.manifest import Revisions, manifest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date

    from probes.target.target import Provider, Target

ROTATE = "rotate"
"""In place of a revision: of each provider the other one whose turn it is today."""


class RevisionError(Mendable):
    """A revision that nobody can be asked for: one line saying which, and what to do."""


class NothingToRotateError(RevisionError):
    """Nobody has another revision whose turn it could be: no mistake, and nothing to ask."""


def usual(provider: Provider) -> str:
    """The revision under which a provider is asked each night; empty where nothing selects one, or each endpoint does.

    The first that the target names, else what the target always sends, else the default of the manifest.
    """
    known = _of_header(provider.name)
    if known is None:
        return ""
    return next(iter(provider.revisions), "") or provider.headers.get(known.header, "") or known.default


def others(provider: Provider) -> tuple[str, ...]:
    """What the target wants probed besides, by rotation."""
    return tuple(each for each in provider.revisions if each != usual(provider))


def asked(target: Target, wanted: Sequence[str], chosen: Iterable[str], today: date) -> dict[str, str]:
    """Provider -> the revision that was asked for in place of its usual one, of the providers chosen.

    Each of `wanted` is `VALUE`, of the providers that know it, `PROVIDER:VALUE`, where it may be any, or `rotate`.

    Raises:
        NothingToRotateError: it is to be another one's turn, and nobody has another.
        RevisionError: nobody can be asked for one.
    """
    here = {name: target.providers[name] for name in chosen if name in target.providers}
    found: dict[str, str] = {}
    for text in wanted:
        found |= _tonight(here, today) if text == ROTATE else _named(here, text)
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


def _tonight(here: Mapping[str, Provider], today: date) -> dict[str, str]:
    due = {name: others(provider) for name, provider in here.items()}
    if not any(due.values()):
        mend = 'name them in the target, as revisions = ["2023-06-01", "2026-10-21"]'
        raise NothingToRotateError(f"--revision {ROTATE}: no provider here has another revision to be probed", mend)
    return {name: values[today.toordinal() % len(values)] for name, values in due.items() if values}


def _named(here: Mapping[str, Provider], text: str) -> dict[str, str]:
    name, colon, value = text.partition(":")
    if colon and name in here:
        if not value:
            raise RevisionError(f"--revision {text}: names no revision", f"write {name}:VALUE")
        if _of_header(name) is None:
            raise RevisionError(f"--revision {text}: {why_not(name)}", "leave it out")
        return {name: value}
    known = {each: _known(provider) for each, provider in here.items()}
    found = {each: text for each, values in known.items() if text in values}
    if not found:
        every = [value for values in known.values() for value in values]
        told = ", ".join(f"{each}:{value}" for each, values in known.items() for value in values)
        mend = did_you_mean(text, every) or (f"they are {told}" if told else "no provider here has any")
        raise RevisionError(f"--revision {text}: no provider here knows it", f"{mend}; any other as PROVIDER:VALUE")
    return found


def _known(provider: Provider) -> tuple[str, ...]:
    known = _of_header(provider.name)
    return () if known is None else tuple(dict.fromkeys([*known.values, *provider.revisions]))


def _of_header(name: str) -> Revisions | None:
    """The revisions of a provider, where a header selects them."""
    known = manifest(name).revisions
    return known if known is not None and known.header else None
