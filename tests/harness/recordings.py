"""Recordings of runs, as somebody's proxy or browser would have made them: without a word of records or labels."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Outcome
from catalog_probe.mockserver.app import create_app
from catalog_probe.probes.traffic.recording_files import read_recordings
from catalog_probe.probes.traffic.sources import unknown_target
from catalog_probe.probes.traffic.traffic import Traffic
from tests.harness.engines import catalog, mock_target_at, probe
from tests.harness.serving import serving

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.model import Event, Exchange, Finding, Json, Response

AT = "2026-01-31T04:00:00.000Z"


def read_recording(folder: Path, results: Iterable[Result], *, complete: bool | None = None) -> Traffic:
    """What these results' exchanges are evidence of, when read from a HAR in this folder.

    `complete` is what the HAR says of its headers; None where it says nothing.
    """
    file = folder / "night.har"
    whole = make_har(results)
    if complete is not None:
        whole["log"]["_headersComplete"] = complete
    file.write_text(json.dumps(whole), encoding="utf-8")
    return Traffic(read_recordings([file]), catalog(), [unknown_target()], of_target=False)


def judge_recording(provider: str, folder: Path) -> tuple[dict[str, Result], dict[str, tuple[Finding, ...]]]:
    """Probe a provider on the mock, and judge the recording of it: what it touches, and what it says otherwise of."""
    chosen = [str(each.address) for each in catalog().select(provider=provider) if each.kind != "rate_limits"]
    with serving(create_app(only=[provider])) as base:
        probed = probe(mock_target_at(base), chosen)
    seen = read_recording(folder, probed.values())
    told = {address: seen.result(address) for address in probed}
    touched = {address: each for address, each in told.items() if each.outcome is not Outcome.NOT_PROBED}
    return touched, {
        address: each.findings for address, each in touched.items() if each.outcome is not probed[address].outcome
    }


def make_har(results: Iterable[Result], *, at: str = AT) -> dict[str, Json]:
    """All HTTP exchanges of these results, as HAR 1.2."""
    creator = {"name": "a proxy", "version": "1"}
    return {"log": {"version": "1.2", "creator": creator, "entries": list(_entries(results, at))}}


def _entries(results: Iterable[Result], at: str) -> Iterator[dict[str, Json]]:
    for result in results:
        for attempt in result.attempts:
            for exchange in attempt.exchanges:
                response = exchange.response
                if response is not None and response.grpc is None and response.cut is None:
                    yield _entry(exchange, response, at)


def _entry(exchange: Exchange, response: Response, at: str) -> dict[str, Json]:
    asked = exchange.request
    body = asked.body if isinstance(asked.body, str) or asked.body is None else json.dumps(asked.body)
    entry: dict[str, Json] = {
        "startedDateTime": at,
        "time": exchange.elapsed_ms,
        "request": {
            "method": asked.method,
            "url": asked.url,
            "headers": _headers(asked.headers),
            **({"postData": {"mimeType": "application/json", "text": body}} if body else {}),
        },
        "response": {
            "status": response.status,
            "headers": _headers(response.headers),
            "content": {"text": _text(response), "mimeType": response.headers.get("content-type", "")},
        },
    }
    if response.close is not None or asked.url.startswith("ws"):
        entry["_webSocketMessages"] = [
            {"type": "send" if each.sent else "receive", "time": 0, "opcode": 1, "data": _data(each)}
            for each in response.events or ()
        ]
    return entry


def _text(response: Response) -> str:
    if response.events is not None:
        return "".join(f"event: {each.event}\ndata: {_data(each)}\n\n" for each in response.events)
    if response.body_type == "json":
        return json.dumps(response.body)
    return response.body if isinstance(response.body, str) else ""


def _data(event: Event) -> str:
    return event.data if isinstance(event.data, str) else json.dumps(event.data)


def _headers(headers: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in headers.items()]
