"""What stands in the place of how the mock of PB knows who calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from catalog_probe.mockserver.pb.auth import ephemeral
from catalog_probe.mockserver.pb.auth.authentication import authenticate
from catalog_probe.mockserver.pb.auth.keys import MAIN, OAUTH_TOKENS
from catalog_probe.mockserver.pb.errors import INVALID, PERMISSION, UNAUTHENTICATED, PbError

OfOauth = Callable[[str], Any]
OfEphemeral = Callable[[Any, str], Any]
Refusal = Callable[[], PbError]


def without_ephemeral_tokens(original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda connection, names, context: (authenticate(connection, names, context), None)


def _refusing(original: OfOauth, when: Callable[[str], bool], kind: Any) -> OfOauth:
    def of_oauth(secret: str) -> Any:
        if when(secret):
            raise PbError(kind, "The OAuth token is no good.")
        return original(secret)

    return of_oauth


def invalid_is_403(original: OfOauth) -> OfOauth:
    return _refusing(original, lambda secret: secret not in OAUTH_TOKENS, PERMISSION)


def expired_is_403(original: OfOauth) -> OfOauth:
    return _refusing(original, lambda secret: secret in OAUTH_TOKENS and OAUTH_TOKENS[secret].expired, PERMISSION)


def missing_is_400(original: OfOauth) -> OfOauth:
    return _refusing(original, lambda secret: not secret, INVALID)


def _refusing_ephemeral(original: OfEphemeral, standing: ephemeral.Standing, kind: Any) -> OfEphemeral:
    def of_ephemeral(context: Any, name: str) -> Any:
        if ephemeral.standing(context.session, name, context.now) is standing:
            raise PbError(kind, "The ephemeral token is no good.")
        return original(context, name)

    return of_ephemeral


def unknown_is_403(original: OfEphemeral) -> OfEphemeral:
    return _refusing_ephemeral(original, ephemeral.Standing.UNKNOWN, PERMISSION)


def too_old_is_403(original: OfEphemeral) -> OfEphemeral:
    return _refusing_ephemeral(original, ephemeral.Standing.EXPIRED, PERMISSION)


def none_is_400(original: OfEphemeral) -> OfEphemeral:
    def of_ephemeral(context: Any, name: str) -> Any:
        if not name:
            raise PbError(INVALID, "There is no ephemeral token.")
        return original(context, name)

    return of_ephemeral


def of_the_main_project(original: OfEphemeral) -> OfEphemeral:
    return lambda context, name: MAIN


def as_it_is(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda project: project


def is_401(original: Refusal) -> Refusal:
    return lambda: PbError(UNAUTHENTICATED, original().message)


def is_400(original: Refusal) -> Refusal:
    return lambda: PbError(INVALID, original().message)


def is_of_another_status(original: Refusal) -> Refusal:
    return lambda: PbError(replace(INVALID, status="UNKNOWN_KEY"), original().message)
