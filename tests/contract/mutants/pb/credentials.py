"""What stands in the place of how the mock of PB knows who calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pb import access, ephemeral
from catalog_probe.mockserver.pb.errors import INVALID, PERMISSION, UNAUTHENTICATED
from catalog_probe.mockserver.pb.keys import MAIN, OAUTH_TOKENS

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.errors import ErrorRow

OfOauth = Callable[[str], Any]
OfEphemeral = Callable[[Any, str], Any]


def without_ephemeral_tokens(original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda connection, names, context: (access.authenticate(connection, names, context), None)


def _refusing(original: OfOauth, when: Callable[[str], bool], row: ErrorRow) -> OfOauth:
    def of_oauth(secret: str) -> Any:
        if when(secret):
            raise row.with_message("The OAuth token is no good.")()
        return original(secret)

    return of_oauth


def invalid_is_403(original: OfOauth) -> OfOauth:
    return _refusing(original, lambda secret: secret not in OAUTH_TOKENS, PERMISSION)


def expired_is_403(original: OfOauth) -> OfOauth:
    return _refusing(original, lambda secret: secret in OAUTH_TOKENS and OAUTH_TOKENS[secret].expired, PERMISSION)


def missing_is_400(original: OfOauth) -> OfOauth:
    return _refusing(original, lambda secret: not secret, INVALID)


def _refusing_ephemeral(original: OfEphemeral, standing: ephemeral.Standing, row: ErrorRow) -> OfEphemeral:
    def of_ephemeral(context: Any, name: str) -> Any:
        if ephemeral.standing(context.session, name, context.now) is standing:
            raise row.with_message("The ephemeral token is no good.")()
        return original(context, name)

    return of_ephemeral


def unknown_is_403(original: OfEphemeral) -> OfEphemeral:
    return _refusing_ephemeral(original, ephemeral.Standing.UNKNOWN, PERMISSION)


def too_old_is_403(original: OfEphemeral) -> OfEphemeral:
    return _refusing_ephemeral(original, ephemeral.Standing.EXPIRED, PERMISSION)


def none_is_400(original: OfEphemeral) -> OfEphemeral:
    def of_ephemeral(context: Any, name: str) -> Any:
        if not name:
            raise INVALID.with_message("There is no ephemeral token.")()
        return original(context, name)

    return of_ephemeral


def of_the_main_project(original: OfEphemeral) -> OfEphemeral:
    return lambda context, name: MAIN


def as_it_is(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda project: project


def is_401(original: ErrorRow) -> ErrorRow:
    return UNAUTHENTICATED.with_message(original.message)


def is_400(original: ErrorRow) -> ErrorRow:
    return INVALID.with_message(original.message)


def is_of_another_status(original: ErrorRow) -> ErrorRow:
    return replace(original, type="UNKNOWN_KEY")
