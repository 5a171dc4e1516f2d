"""The refusals of the compliance API, one for each row of 2:7.2. The codes of the rows never travel (2:7.1)."""

from __future__ import annotations

from catalog_probe.mockserver.pa.errors import AUTHENTICATION, NOT_FOUND, PERMISSION, Kind, PaError, invalid, not_found

ATTACHED_CHATS = Kind(409, "invalid_request_error", retry=False)
NOT_FOUND_YET = Kind(404, NOT_FOUND.type, retry=True)  # retryable, or conditionally so, by its row of 2:7.2
UNAVAILABLE = Kind(503, "overloaded_error", retry=None)


def not_enabled() -> PaError:
    """The API is not enabled for the organization or its parent; every endpoint answers this."""
    return invalid("The Compliance API is not enabled for this organization or its parent organization.")


def not_a_usable_key(key_header: str) -> PaError:
    """The key matches none, is deactivated, or has expired."""
    return PaError(AUTHENTICATION, f"invalid {key_header}")


def insufficient_scope(wanted: str) -> PaError:
    """The key lacks the scope of this endpoint."""
    return PaError(PERMISSION, f"This key lacks the required scope {wanted}.")


def retired_scope() -> PaError:
    """The key holds only the settings scope that was retired on 2026-06-30 (1:5.1)."""
    message = "The scope read:compliance_org_settings is retired. Create a key with read:compliance_org_data."
    return PaError(PERMISSION, message)


def bad_parameter(name: str, constraint: str) -> PaError:
    """The message starts with the parameter's name, then the failed constraint."""
    return invalid(f"{name}: {constraint}")


def unknown_parameter(name: str, hint: str = "") -> PaError:
    """A query parameter that this endpoint does not have: ignored parameters are not tolerated."""
    return invalid(f"Unknown query parameter {name!r}.{hint}")


def bad_cursor(name: str, reason: str) -> PaError:
    """A cursor that was not issued for this request, or too long ago."""
    return invalid(f"{name}: {reason}")


def malformed_id(what: str, prefix: str) -> PaError:
    """A session id of the wrong form is 400, not 404."""
    return invalid(f"Invalid {what} id: it should begin with {prefix}.")


def gone(what: str) -> PaError:
    """What is missing, deleted, past its retention or outside the key's reach."""
    return not_found(f"{what} not found.")


def not_there_yet(what: str) -> PaError:
    """Missing, and perhaps there later: a client may ask again."""
    return PaError(NOT_FOUND_YET, f"{what} not found.")


def local_sessions_not_available() -> PaError:
    """What every local-session call gets while the endpoints are unavailable to the parent organization."""
    return PaError(NOT_FOUND_YET, "Local sessions are not available to this organization.")


def settings_not_available() -> PaError:
    """Not a linked child, no UUID, or settings not enabled: the same body on purpose."""
    return not_found("Organization settings are not available.")


def has_attached_chats() -> PaError:
    """Told from other invalid_request_errors by its status alone."""
    return PaError(ATTACHED_CHATS, "The project has attached chats. Delete or detach them first.")


def unavailable(what: str) -> PaError:
    """A part of the local sessions cannot be read at the moment."""
    return PaError(UNAVAILABLE, f"{what} temporarily unavailable.")
