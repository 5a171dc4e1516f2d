"""The shipped live target with one key, against a stand-in of the service.

Doctor, plan, a first night, a quiet one, one on which one thing changed, its acceptance, and a green one.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.evidence.causes import find_causes
from catalog_probe.catalog.evidence.completeness import select_record_results
from catalog_probe.catalog.evidence.results_file import read_run
from catalog_probe.catalog.model import Outcome
from catalog_probe.cli.main import main
from catalog_probe.mockserver.app import create_app
from catalog_probe.probes.targets import target_file as targets
from tests.harness.command import CommandResult, probe_here, pytest_probes
from tests.harness.live import use_accepted_differences
from tests.harness.serving import serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from starlette.types import Message, Receive, Scope, Send

LIVE = targets.load("live", {})
DIALECT = {
    "pa": {
        "header_prefix": LIVE.providers["pa"].header_prefix,
        "id_prefix": LIVE.providers["pa"].id_prefix,
        "key_header": LIVE.providers["pa"].key_header,
    }
}
"""Names of headers and ids of the public service, from the live target."""

NIGHT = ("--target", "live", "--provider", "pa")
OPTIONS = (*NIGHT, "--kind", "endpoints")
MOCKS = (b"x-mock-",)
GET_MODEL = "pa/endpoints/models/get_model"


class ServiceMock:
    """The mock with the service's names; after `changed` is set it differs in one status."""

    def __init__(self) -> None:
        self.mock = create_app(only=["pa"], settings=DIALECT)
        self.changed = False
        self.asked: list[tuple[str, dict[bytes, bytes]]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.asked.append((f"{scope['method']} {scope['path']}", dict(scope["headers"])))

        async def send_changed(message: Message) -> None:
            if self.changed and message["type"] == "http.response.start" and scope["path"].endswith("/no-such-model"):
                message = {**message, "status": 410}
            await send(message)

        await self.mock(scope, receive, send_changed)


@contextmanager
def service() -> Iterator[tuple[ServiceMock, dict[str, str]]]:
    """A running stand-in, and the variables of a user: a key, and an address because tests never dial out."""
    standing_in = ServiceMock()
    with serving(standing_in) as base:
        yield standing_in, {"PA_API_KEY": "mock-pa-inference", "PA_BASE_URL": f"{base}/pa", "PA_RATE": "200"}


@pytest.mark.proof
def test_a_week_with_one_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, accepted_differences = tmp_path / "out", tmp_path / "divergences.json"
    accepted_differences.write_text("[]")
    use_accepted_differences(accepted_differences, monkeypatch)

    def night() -> CommandResult:
        return probe_here(out, *OPTIONS, environ=environ)

    with service() as (standing_in, environ):
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        assert main(["target", "doctor", "--target", "live"]) == 0
        doctor = capsys.readouterr().out
        assert re.search(r"credential\s+inference \(PA_API_KEY\)\s+works: GET /v1/models", doctor)
        assert re.search(r"found\s+small_model\s+mock-small", doctor)
        assert re.search(r"\+\d+ +PA_COMPLIANCE_KEY \(credentials\.compliance\)", doctor)
        assert len(standing_in.asked) == 2, "a control and one look-up"

        planned = probe_here(out, *OPTIONS, "--plan", environ=environ)
        assert "pa GET /v1/models?limit=1000 look-up free inference" in planned.output, planned.output
        assert len(standing_in.asked) == 2, "a plan sends nothing"

        first = night()
        assert first.status == 0, first.all_output
        assert Counter(result.outcome.value for result in first.results.values())["conforms"] >= 7
        assert {result.outcome.value for result in first.results.values()} == {"conforms", "not_probed"}
        assert [cause["values"].get("small_model") for cause in first.run.preflight] == ["mock-small"]
        listings = [asked for asked, _ in standing_in.asked[2:] if asked == "GET /pa/v1/models"]
        assert not any(name.startswith(MOCKS) for _, headers in standing_in.asked for name in headers)
        versions = {headers.get(b"anthropic-version", b"") for _, headers in standing_in.asked}
        without_version = [asked for asked, headers in standing_in.asked if b"anthropic-version" not in headers]
        assert versions == {b"2023-06-01", b""}
        assert without_version == ["GET /pa/v1/models"], "the one request that should be refused for it"
        assert listings

        quiet_night = night()
        assert quiet_night.status == 0, quiet_night.all_output
        assert "Nothing changed" in summary(out)

        standing_in.changed = True
        noisy_night = night()
        assert noisy_night.status == 1, noisy_night.all_output
        causes = find_causes(select_record_results(read_run(out / "latest" / "results.jsonl")[1]))
        assert [(cause.provider, cause.records) for cause in causes] == [("pa", (GET_MODEL,))]
        assert "documented 404, observed 410" in causes[0].summary
        assert f"accept --cause {causes[0].id}" in summary(out)

        reason = ("--reason", "gone for good", "--ticket", "https://tickets.example/1")
        places = ("--run", str(out / "latest"), "--accepted-differences", str(accepted_differences))
        assert main(["catalog", "accept", "--cause", causes[0].id, *reason, *places]) == 0

        last = night()
        assert last.status == 0, last.all_output


def summary(out: Path) -> str:
    return (out / "latest" / "summary.md").read_text(encoding="utf-8")


NEEDING_A_MODEL = "list_models or server_tools_in_count_tokens"
"""Two records: one needs nothing, and the only step of the other names a model that must be looked up."""

PAGE = b"<html><body>Sorry, you have been blocked</body></html>"


class OtherListing:
    """The service with a gateway's page in place of its listing, from some page on."""

    def __init__(self, standing_in: ServiceMock, *, page_from: int) -> None:
        self.standing_in = standing_in
        self.page_from = page_from
        self.pages = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if b"limit=1000" not in scope.get("query_string", b""):
            await self.standing_in(scope, receive, send)
            return
        self.pages += 1
        if self.pages >= self.page_from:
            await answer(send, 403, b"text/html", PAGE)
        else:
            page = {"data": [{"id": "x", "lifecycle": "retired"}], "last_id": "x", "has_more": True}
            await answer(send, 200, b"application/json", json.dumps(page).encode())


async def answer(send: Send, status: int, content_type: bytes, body: bytes) -> None:
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", content_type)]})
    await send({"type": "http.response.body", "body": body})


def test_a_night_whose_look_ups_a_gateway_answers_is_blind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(OtherListing(ServiceMock(), page_from=1)) as base:
        environ = {"PA_API_KEY": "mock-pa-inference", "PA_BASE_URL": f"{base}/pa", "PA_RATE": "200"}
        ran = probe_here(tmp_path / "out", *NIGHT, "-k", NEEDING_A_MODEL, environ=environ)
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        assert main(["target", "doctor", "--target", "live"]) == 1
    assert_blind_by_gateway(ran)
    assert re.search("^unanswered: pa: gateway-page: the look-up GET ", capsys.readouterr().out, re.MULTILINE)


def test_workers_know_a_look_up_of_which_one_page_was_answered(tmp_path: Path) -> None:
    """The account's models are unknown all the same."""
    with serving(OtherListing(ServiceMock(), page_from=2)) as base:
        environ = {"PA_API_KEY": "mock-pa-inference", "PA_BASE_URL": f"{base}/pa", "PA_RATE": "200"}
        ran = pytest_probes(tmp_path / "out", *NIGHT, "-k", NEEDING_A_MODEL, "-n", "1", environ=environ)
    assert_blind_by_gateway(ran)


def assert_blind_by_gateway(ran: CommandResult) -> None:
    reasons = {
        result.reason.code
        for result in ran.results.values()
        if result.outcome is Outcome.INCONCLUSIVE and result.reason
    }
    assert (ran.status, reasons) == (10, {"gateway-page"}), ran.all_output
    assert "the look-up GET " in ran.output
    assert "blind: pa was observed only in part" in ran.output


def test_without_any_key_the_run_names_the_variables_to_set(tmp_path: Path) -> None:
    ran = probe_here(tmp_path / "out", "--target", "live", "--kind", "rate_limits")
    assert ran.status == 10
    for name in ("PA", "PB", "PC", "PD"):
        assert f"set {name}_API_KEY" in ran.output
    assert "No drift" not in ran.output


@pytest.mark.parametrize("provider", ["pb", "pc", "pd"])
def test_each_provider_is_reached_with_its_key_alone(provider: str, tmp_path: Path) -> None:
    live_provider = LIVE.providers[provider]
    names: dict[str, Any] = {"header_prefix": live_provider.header_prefix, "key_header": live_provider.key_header}
    settings = {"pb": names, "pc": {"header_prefix": live_provider.header_prefix}, "pd": {}}[provider]
    key = f"{provider.upper()}_API_KEY"
    with serving(create_app(only=[provider], settings={provider: settings} if settings else {})) as base:
        environ = {key: f"mock-{provider}-inference", f"{provider.upper()}_BASE_URL": f"{base}/{provider}"}
        environ[f"{provider.upper()}_RATE"] = "200"
        words = ("-k", "list_models or get_model or unknown_model or invalid_api_key or incorrect_api_key")
        ran = probe_here(tmp_path / "out", "--target", "live", "--provider", provider, *words, environ=environ)
    assert ran.status == 0, ran.all_output
    conforming = [result for result in ran.results.values() if result.outcome.value == "conforms"]
    assert len(conforming) >= 2, ran.all_output
    assert ran.run.preflight
