"""A HAR written by a real mitmproxy: its records, its drifts and its secrets."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest

from catalog_probe.catalog.model import Outcome
from catalog_probe.probes.traffic.recordings import read_recordings
from catalog_probe.probes.traffic.sources import unknown_target
from catalog_probe.probes.traffic.traffic import Traffic
from tests.harness.engines import catalog

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.model import Json
    from catalog_probe.probes.traffic.recordings import Recording

pytestmark = pytest.mark.usefixtures("shared_recognizers")

PB = "/pb/v1beta/models"
GENERATE = "pb/endpoints/generation/generate_content_v1beta"

RECORDING_FILE = Path(__file__).parents[2] / "recorded" / "mitmproxy.har"

CONFORMING = {
    "pa/endpoints/messages/create_message",
    "pa/errors/general/overloaded",
    GENERATE,
    "pb/endpoints/live/connect",
    "pc/endpoints/chat/create_chat_completion",
    "pc/endpoints/oauth/exchange_token",
    "pc/endpoints/responses/create_response",
    "pc/errors/authentication/invalid_api_key",
    "pc/errors/websocket/previous_response_not_found",
    "pd/endpoints/chat/create_chat_completion",
    "pd/endpoints/models/list_models",
}
# Records that are observed in the headers of successes, or share assertions with the record of the endpoint.
LIMITS = {
    "pa/endpoints/limits/fast_mode",
    "pa/endpoints/limits/messages_per_minute",
    "pa/endpoints/limits/priority",
    "pa/endpoints/limits/scope",
    "pa/endpoints/limits/spend_cap",
    "pa/endpoints/limits/token_counting_rules",
    "pa/rate_limits/limits/general",
    "pc/rate_limits/limits/general",
}

# Observed as expected, but every observed assertion is assumed.
ONLY_ASSUMED = {"pb/endpoints/generation/stream_generate_content_v1beta"}


@cache
def read_traffic() -> Traffic:
    return Traffic(read_recordings([RECORDING_FILE]), catalog(), [unknown_target()], of_target=False)


def read_entries() -> list[Json]:
    har_entries: list[Json] = json.loads(RECORDING_FILE.read_text(encoding="utf-8"))["log"]["entries"]
    return har_entries


def read_stream(recording: Recording, path: str) -> str:
    """Return the event data of the first stream from a path."""
    exchanges = (exchange for attempt in recording.attempts for exchange in attempt.exchanges)
    responses = (exchange.response for exchange in exchanges if urlsplit(exchange.request.url).path == path)
    events = next(response.events for response in responses if response is not None and response.events)
    return json.dumps([event.data for event in events], ensure_ascii=False)


def list_results(traffic: Traffic) -> dict[str, Result]:
    """Return the result of each record that the traffic is evidence of."""
    results = (traffic.result(str(record.address)) for record in catalog().records)
    return {result.record: result for result in results if result.outcome is not Outcome.NOT_PROBED}


def test_recording_is_evidence_of_its_records() -> None:
    outcomes = {address: result.outcome for address, result in list_results(read_traffic()).items()}
    assert outcomes == {
        **dict.fromkeys(CONFORMING | LIMITS, Outcome.CONFORMS),
        **dict.fromkeys(ONLY_ASSUMED, Outcome.INCONCLUSIVE),
    }


def test_unused_exchanges_are_counted_by_reason() -> None:
    summary = read_traffic().to_json()
    assert (summary["exchanges"], summary["judged"]) == (20, 14)
    # a stream that was cut off, an answer that never came, a path that the catalog does not have, and two 404
    assert summary["left_out"] == {
        "without its body": 1,
        "without an answer": 1,
        "to no endpoint of the catalog": 1,
        "which say too little to be evidence of one record": 2,
    }


def test_stream_without_charset_is_repaired() -> None:
    """Without a charset, mitmproxy writes each letter outside ASCII as several."""
    assert "Grüße" in read_stream(read_recordings([RECORDING_FILE])[0], "/pa/v1/messages")
    written = [entry["response"]["content"].get("text", "") for entry in read_entries()]
    assert not any("Grüße" in text for text in written if text.startswith("event: "))
    assert any("GrÃ¼Ã" in text for text in written if text.startswith("event: "))


def test_changed_answer_drifts(tmp_path: Path, subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str, int, str, str, str]] = [
        (
            "refusal",
            "/pa/v1/messages",
            529,
            r'"request_id":"\w+"',
            '"request_id":"req_other"',
            "pa/errors/general/overloaded",
        ),
        ("packed", f"{PB}/mock-lite:generateContent", 200, '"finishReason":"STOP"', '"finishReason":7', GENERATE),
        ("stream", "/pc/v1/responses", 200, '"id":"resp_', '"id":"other_', "pc/endpoints/responses/create_response"),
    ]
    for case, path, status, old, new, record in cases:
        with subtests.test(case=case):
            har = json.loads(RECORDING_FILE.read_text(encoding="utf-8"))
            changed = 0
            for entry in har["log"]["entries"]:
                if urlsplit(entry["request"]["url"]).path == path and entry["response"]["status"] == status:
                    content = entry["response"]["content"]
                    content["text"], count = re.subn(old, new, content["text"])
                    changed += count
            assert changed
            (tmp_path / "changed.har").write_text(json.dumps(har), encoding="utf-8")
            traffic = Traffic(
                read_recordings([tmp_path / "changed.har"]), catalog(), [unknown_target()], of_target=False
            )
            outcomes = {address: result.outcome for address, result in list_results(traffic).items()}
            assert {address for address, outcome in outcomes.items() if outcome is Outcome.DRIFTED} == {record}


def list_credentials(har_entries: list[Json]) -> set[str]:
    """Return the keys of all requests, and the token that an answer hands out."""
    credentials: set[str] = set()
    for entry in har_entries:
        request, content = entry["request"], entry["response"]["content"]
        headers = {header["name"].lower(): header["value"] for header in request["headers"]}
        credentials |= {headers.get("x-api-key", ""), headers.get("authorization", "").removeprefix("Bearer ")}
        credentials.update(parse_qs(urlsplit(request["url"]).query).get("key", ()))
        if "oauth" in request["url"]:
            credentials.add(json.loads(request["postData"]["text"])["subject_token"])
            credentials.add(json.loads(content["text"])["access_token"])
    return credentials - {""}


def test_results_contain_no_credential() -> None:
    secrets = list_credentials(read_entries())
    assert len(secrets) == 7
    results = list_results(read_traffic())
    text = json.dumps([read_traffic().to_json(), *(result.to_json() for result in results.values())])
    assert "${CREDENTIAL_" in text
    assert not [secret for secret in secrets if secret in text]
