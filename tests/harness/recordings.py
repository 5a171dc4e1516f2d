"""Recordings of runs as a proxy or browser would make them, without records or labels."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Outcome
from catalog_probe.mockserver.app import create_app
from catalog_probe.probes.traffic.recordings import read_recordings
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
    """Write the exchanges of these results to a HAR in this folder, and read it as recorded traffic.

    `complete` is whether the HAR claims to have all headers; None for no claim.
    """
    file = folder / "night.har"
    recording = make_har(results)
    if complete is not None:
        recording["log"]["_headersComplete"] = complete
    file.write_text(json.dumps(recording), encoding="utf-8")
    return Traffic(read_recordings([file]), catalog(), [unknown_target()], of_target=False)


def judge_recording(provider: str, folder: Path) -> tuple[dict[str, Result], dict[str, tuple[Finding, ...]]]:
    """Probe a provider on the mock and judge the recording.

    Return the judged results, and the findings of those whose outcome differs from the probed one.
    """
    addresses = [str(record.address) for record in catalog().select(provider=provider) if record.kind != "rate_limits"]
    with serving(create_app(only=[provider])) as base:
        probed = probe(mock_target_at(base), addresses)
    traffic = read_recording(folder, probed.values())
    results = {address: traffic.result(address) for address in probed}
    judged = {address: result for address, result in results.items() if result.outcome is not Outcome.NOT_PROBED}
    return judged, {
        address: result.findings for address, result in judged.items() if result.outcome is not probed[address].outcome
    }


def make_har(results: Iterable[Result], *, at: str = AT) -> dict[str, Json]:
    """Return all HTTP exchanges of these results as HAR 1.2."""
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
    request = exchange.request
    body = request.body if isinstance(request.body, str) or request.body is None else json.dumps(request.body)
    entry: dict[str, Json] = {
        "startedDateTime": at,
        "time": exchange.elapsed_ms,
        "request": {
            "method": request.method,
            "url": request.url,
            "headers": _headers(request.headers),
            **({"postData": {"mimeType": "application/json", "text": body}} if body else {}),
        },
        "response": {
            "status": response.status,
            "headers": _headers(response.headers),
            "content": {"text": _text(response), "mimeType": response.headers.get("content-type", "")},
        },
    }
    if response.close is not None or request.url.startswith("ws"):
        entry["_webSocketMessages"] = [
            {"type": "send" if event.sent else "receive", "time": 0, "opcode": 1, "data": _data(event)}
            for event in response.events or ()
        ]
    return entry


def _text(response: Response) -> str:
    if response.events is not None:
        return "".join(f"event: {event.event}\ndata: {_data(event)}\n\n" for event in response.events)
    if response.body_type == "json":
        return json.dumps(response.body)
    return response.body if isinstance(response.body, str) else ""


def _data(event: Event) -> str:
    return event.data if isinstance(event.data, str) else json.dumps(event.data)


def _headers(headers: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in headers.items()]
