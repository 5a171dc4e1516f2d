"""The installed SDKs send what was recorded of their major versions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.harness.sdk_requests import SDKS, read_grpc_sdk, record_http_sdk, recording_file

ANEW = "`python -m tests.harness.sdk_requests` records it anew; then tests/contract/probes tells what recipes lack"


@pytest.mark.parametrize("module", SDKS)
def test_an_sdk_sends_what_was_recorded(module: str) -> None:
    pytest.importorskip(module, reason="the official SDK is not installed (dependency group `clients`)")
    assert_as_recorded(record_http_sdk(module), "requests")


def test_the_grpc_sdk_has_the_methods_that_were_recorded() -> None:
    pytest.importorskip("xai_sdk", reason="the official SDK of PD is not installed (dependency group `clients`)")
    assert_as_recorded(read_grpc_sdk(), "methods")


def assert_as_recorded(now: dict[str, Any], what: str) -> None:
    path = recording_file(now)
    assert path.exists(), f"{now['sdk']} has a new major, {now['version']}: {ANEW}"
    before = json.loads(path.read_text(encoding="utf-8"))
    changed = [key for key in {**now[what], **before[what]} if now[what].get(key) != before[what].get(key)]
    assert changed == [], f"{now['sdk']} {now['version']} differs from {before['version']}: {ANEW}"
