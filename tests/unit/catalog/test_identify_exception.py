"""Identification of an exception: of httpx, of gRPC, and of SDKs, whose classes are made here by their attributes."""

from __future__ import annotations

from typing import Any

import grpc
import httpx
import pytest
from websockets.exceptions import ConnectionClosedError
from websockets.frames import Close

from catalog_probe import May, identify_exception
from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.model.errors import CatalogError

QUOTA = {"message": "Over quota.", "type": "insufficient_quota", "param": None, "code": "insufficient_quota"}


def request_to(provider: str, path: str) -> httpx.Request:
    return httpx.Request("POST", f"https://{manifest(provider).sdk_hosts[0]}{path}")


def make_error(provider: str, name: str, message: str = "", **attributes: Any) -> Exception:
    """Make an exception of an official SDK: its class is of the SDK's module, and it has these attributes."""
    error_class = type(name, (Exception,), {"__module__": f"{manifest(provider).sdk_modules[0]}._exceptions"})
    error: Exception = error_class(message)
    for attribute, value in attributes.items():
        setattr(error, attribute, value)
    return error


def test_an_exception_of_httpx_is_that_of_the_host_that_was_asked() -> None:
    headers = {"pc-organization": "org-1"}
    response = httpx.Response(429, json={"error": QUOTA}, headers=headers, request=request_to("pc", "/v1/responses"))
    with pytest.raises(httpx.HTTPStatusError) as caught:
        response.raise_for_status()
    assert identify_exception(caught.value).record == "pc/errors/rate_limit/insufficient_quota"


def test_the_response_goes_before_the_body_that_an_sdk_has_unwrapped() -> None:
    """PC's SDK before PD keeps only the message of the body."""
    body = {"code": "invalid-argument", "error": "Incorrect API key provided: x"}
    response = httpx.Response(400, json=body, request=request_to("pd", "/v1/chat/completions"))
    error = make_error("pc", "BadRequestError", response=response, status_code=400, body=body["error"])
    assert identify_exception(error).record == "pd/errors/invalid_argument/incorrect_api_key"


def test_an_error_in_a_stream_has_a_body_and_no_status() -> None:
    overloaded = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    streamed = httpx.Response(200, request=request_to("pa", "/v1/messages"), stream=httpx.ByteStream(b""))
    error = make_error("pa", "APIStatusError", response=streamed, status_code=200, body=overloaded)
    assert identify_exception(error).record == "pa/errors/stream/overloaded"
    body = {"type": "error", "code": "server_error", "message": "Oh.", "param": None, "sequence_number": 1}
    error = make_error("pc", "APIError", request=request_to("pc", "/v1/responses"), body=body)
    identity = identify_exception(error)
    assert (identity.record, identity.retry.replay_safe) == ("pc/errors/stream/server_error", False)


def test_an_exception_with_code_and_details_is_read() -> None:
    details = {"error": {"code": 429, "message": "Please retry in 7.5s.", "status": "RESOURCE_EXHAUSTED"}}
    identity = identify_exception(make_error("pb", "ClientError", code=429, details=details))
    assert (identity.group, identity.retry.may, identity.retry.wait_s) == ("rate limit", May.YES, 7.5)
    close = make_error("pb", "APIError", code=1011, details="Internal error encountered.")
    assert identify_exception(close).record == "pb/errors/general/internal_error"


def test_a_close_of_a_socket_is_read() -> None:
    error = ConnectionClosedError(Close(1008, "models/m-1 is not found for API version v1beta"), None)
    assert identify_exception(error, "pb").record == "pb/errors/general/model_not_found"


def test_a_failed_grpc_call_is_read() -> None:
    class FailedCall(grpc.RpcError):
        def code(self) -> grpc.StatusCode:
            return grpc.StatusCode.RESOURCE_EXHAUSTED

        def details(self) -> str:
            return "Too many requests."

    FailedCall.__module__ = "grpc.aio"
    identity = identify_exception(FailedCall())
    assert (identity.record, identity.retry.may) == ("pd/errors/grpc/resource_exhausted", May.YES)


def test_a_failure_without_an_answer_is_the_record_of_its_cause() -> None:
    cause = httpx.ConnectTimeout("", request=request_to("pc", "/v1/responses"))
    error = make_error("pc", "APITimeoutError")
    error.__cause__ = cause
    for exception in (cause, error):
        assert identify_exception(exception).record == "pc/errors/client/connect_timeout"
    undocumented = identify_exception(httpx.ReadTimeout(""), "pb")
    assert (undocumented.verdict, undocumented.group, undocumented.retry.may) == ("group", "timeout", May.UNKNOWN)


def test_an_exception_that_holds_no_answer_is_unknown_and_without_a_provider_refused() -> None:
    assert identify_exception(ValueError("no"), "pa").unknown
    with pytest.raises(CatalogError, match="nothing in ReadTimeout tells whose answer it is"):
        identify_exception(httpx.ReadTimeout(""))
