"""Replacements for how the mock of PB authenticates callers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pb import access
from catalog_probe.mockserver.pb import access as ephemeral
from catalog_probe.mockserver.pb.errors import INVALID, PERMISSION
from catalog_probe.mockserver.pb.keys import MAIN, OAUTH_TOKENS

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.errors import ErrorRow

Identify = Callable[[str], Any]
RefuseEphemeral = Callable[[Any, str], Any]


def without_ephemeral_tokens(original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda connection, names, context: (access.authenticate(connection, names, context), None)


def _refusing(original: Identify, when: Callable[[str], bool], row: ErrorRow) -> Identify:
    def replacement(secret: str) -> Any:
        if when(secret):
            raise row.with_message("The OAuth token is no good.")()
        return original(secret)

    return replacement


def invalid_is_403(original: Identify) -> Identify:
    return _refusing(original, lambda secret: secret not in OAUTH_TOKENS, PERMISSION)


def expired_is_403(original: Identify) -> Identify:
    return _refusing(original, lambda secret: secret in OAUTH_TOKENS and OAUTH_TOKENS[secret].expired, PERMISSION)


def missing_is_400(original: Identify) -> Identify:
    return _refusing(original, lambda secret: not secret, INVALID)


def _refusing_ephemeral(original: RefuseEphemeral, state: ephemeral.TokenState, row: ErrorRow) -> RefuseEphemeral:
    def replacement(context: Any, name: str) -> Any:
        if ephemeral.find_state(context.session, name, context.now) is state:
            raise row.with_message("The ephemeral token is no good.")()
        return original(context, name)

    return replacement


def unknown_is_403(original: RefuseEphemeral) -> RefuseEphemeral:
    return _refusing_ephemeral(original, ephemeral.TokenState.UNKNOWN, PERMISSION)


def too_old_is_403(original: RefuseEphemeral) -> RefuseEphemeral:
    return _refusing_ephemeral(original, ephemeral.TokenState.EXPIRED, PERMISSION)


def none_is_400(original: RefuseEphemeral) -> RefuseEphemeral:
    def replacement(context: Any, name: str) -> Any:
        if not name:
            raise INVALID.with_message("There is no ephemeral token.")()
        return original(context, name)

    return replacement


def of_the_main_project(original: RefuseEphemeral) -> RefuseEphemeral:
    return lambda context, name: MAIN


def as_it_is(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda project: project
