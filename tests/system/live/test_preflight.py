"""A blind night is red: dead keys, missing keys, pauses, overdue reviews."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.writeback.accepted_differences import AcceptedDifference
from catalog_probe.mockserver.app import create_app
from catalog_probe.probes.plugin.after_run import find_stale_entries
from catalog_probe.probes.plugin.options import Options
from catalog_probe.probes.running.engine import Engine
from catalog_probe.probes.targets import target_file as targets
from catalog_probe.probes.targets.target import Cost
from catalog_probe.probes.wire.redaction import Redactor
from tests.harness.command import probe_here
from tests.harness.engines import catalog
from tests.harness.live import LiveTarget, use_accepted_differences, write_live_target
from tests.harness.serving import serving
from tests.harness.target_files import pa_target

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import Message, Receive, Scope, Send

    from catalog_probe.catalog.evidence.results import Result

MODELS = "pa/endpoints/models/list_models"
UNKNOWN_MODEL = "pa/errors/general/unknown_model"
UNKNOWN_PATH = "pa/errors/general/unknown_path"

FEW = ("-k", "models or compliance_chats")
"""Few records of both credentials are enough to test what an unobservable provider reports."""


def test_a_dead_key_makes_the_run_blind_and_names_its_variable(tmp_path: Path) -> None:
    with serving(create_app(only=["pa"])) as base:
        tonight = write_live_target(tmp_path, {"pa": f"{base}/pa"})
        dead = {"PA_API_KEY": "a-key-that-was-deleted-yesterday"}
        run_result = probe_here(tmp_path / "out", "--target", str(tonight.path), *FEW, environ=dead)
    assert run_result.status == 10, run_result.all_output
    assert "look at PA_API_KEY" in run_result.output
    assert "blind: pa was not observed" in run_result.output
    assert dead["PA_API_KEY"] not in run_result.all_output
    assert not any(result.attempts for result in run_result.results.values()), "nothing is asked with a dead key"


@pytest.mark.parametrize(("expected", "is_expected"), [(True, True), (None, False)])
def test_a_missing_key_makes_the_run_blind_and_names_what_to_set(
    tmp_path: Path, expected: bool | None, is_expected: bool
) -> None:
    tonight = write_live_target(tmp_path, {"pa": "https://provider.invalid"}, expected=expected)
    run_result = probe_here(tmp_path / "out", "--target", str(tonight.path), *FEW)
    assert run_result.status == 10, run_result.all_output
    assert run_result.run.expected == (("pa",) if is_expected else ())
    assert "blind: pa was not observed: nothing was probed" in run_result.output
    reasons = {result.reason.detail for result in run_result.results.values() if result.reason}
    assert "set PA_API_KEY" in reasons
    assert {result.outcome for result in run_result.results.values()} == {Outcome.NOT_PROBED}


@pytest.mark.parametrize(
    ("expected", "is_expected", "variables"),
    [("no", False, ("PA_API_KEY",)), ("", True, ("PA_COMPLIANCE_KEY", "PA_API_KEY", "PA_ADMIN_KEY"))],
)
def test_an_empty_key_leads_the_summary(
    tmp_path: Path, expected: str, is_expected: bool, variables: tuple[str, ...]
) -> None:
    """An empty key means a missing CI secret, so the provider is expected; the main key is named."""
    environ = {"PA_BASE_URL": "https://provider.invalid", "PA_EXPECTED": expected, **dict.fromkeys(variables, "")}
    chosen = ("--target", "live", "--provider", "anthropic")
    run_result = probe_here(tmp_path / "out", *chosen, *FEW, environ=environ)
    assert run_result.status == 10, run_result.all_output
    assert run_result.run.expected == (("pa",) if is_expected else ())
    message = "blind: pa was not observed: the API key is missing: PA_API_KEY is set but empty; set it to the key"
    assert message in " ".join(run_result.output.split())
    assert "PA_COMPLIANCE_KEY" not in run_result.output
    assert {result.outcome for result in run_result.results.values()} == {Outcome.NOT_PROBED}


def test_a_provider_with_an_address_and_a_key_is_expected(tmp_path: Path) -> None:
    tonight = write_live_target(tmp_path, {"pa": "http://127.0.0.1:9"}, expected=None)
    run_result = probe_here(tmp_path / "out", "--target", str(tonight.path), *FEW, environ=tonight.environ)
    assert run_result.status == 10, run_result.all_output
    assert run_result.run.expected == ("pa",)
    assert "blind: pa was not observed: no record has a verdict" in run_result.output
    assert "connect-refused" in {result.reason.code for result in run_result.results.values() if result.reason}


class PausingMock:
    """The mock, asking for a pause in its first answer to an unknown model."""

    def __init__(self, retry_after: str) -> None:
        self.mock = create_app(only=["pa"])
        self.retry_after = retry_after
        self.asked = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.asked or "no-such-model" not in scope["path"]:
            await self.mock(scope, receive, send)
            return
        self.asked = True
        headers = [(b"retry-after", self.retry_after.encode()), (b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 429, "headers": headers})
        await send({"type": "http.response.body", "body": b"{}"})


def probe_in_order(tonight: LiveTarget, *addresses: str) -> list[Result]:
    """Probed one after the other."""
    engine = Engine(catalog(), tonight.target, frozenset(Cost), "run", Redactor.for_target(tonight.target))
    try:
        return [engine.result(address) for address in addresses]
    finally:
        engine.close()


def date_in_a_year() -> str:
    return format_datetime(datetime.now(UTC) + timedelta(days=365), usegmt=True)


@pytest.mark.parametrize("retry_after", [lambda: "31536000", date_in_a_year, lambda: "1e300"])
def test_too_long_a_wait_ends_the_lane(tmp_path: Path, retry_after: Callable[[], str]) -> None:
    with serving(PausingMock(retry_after())) as base:
        tonight = write_live_target(tmp_path, {"pa": f"{base}/pa"}, max_wait_s=1)
        first, second, third = probe_in_order(tonight, UNKNOWN_MODEL, UNKNOWN_PATH, MODELS)
    assert [result.reason and result.reason.code for result in (first, second, third)] == [
        "unasked-rate-limit",
        "lane-stopped",
        "lane-stopped",
    ], "the record's own next request met the wait"
    for result in (second, third):
        assert result.reason is not None
        assert result.reason.detail.startswith("wait-too-long: ")


def test_a_wait_within_the_cap_is_waited_for(tmp_path: Path) -> None:
    """The next request of the same record waits."""
    with serving(PausingMock("0.3")) as base:
        [result] = probe_in_order(write_live_target(tmp_path, {"pa": f"{base}/pa"}), UNKNOWN_MODEL)
    refused, after = result.attempts[0].exchanges[:2]
    assert result.outcome is Outcome.CONFORMS
    assert after.started_ms - refused.started_ms - refused.elapsed_ms >= 250


class DriftingMock:
    """The mock with another status on one path."""

    def __init__(self) -> None:
        self.mock = create_app(only=["pa"])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_spoiled(message: Message) -> None:
            wrong = message["type"] == "http.response.start" and "no-such-path" in scope["path"]
            await send({**message, "status": 418} if wrong else message)

        await self.mock(scope, receive, send_spoiled)


def test_a_drift_is_confirmed_after_the_time_that_the_target_sets(tmp_path: Path) -> None:
    with serving(DriftingMock()) as base:
        tonight = write_live_target(tmp_path, {"pa": f"{base}/pa"})
        tonight.path.write_text(tonight.path.read_text().replace("reprobe_after_s = 0", "reprobe_after_s = 0.2"))
        (result,) = probe_in_order(tonight, UNKNOWN_PATH)
    assert result.outcome is Outcome.DRIFTED
    first, second = (datetime.fromisoformat(attempt.started_at) for attempt in result.attempts)
    assert (second - first).total_seconds() >= 0.2


ACCEPTED = AcceptedDifference(MODELS, "night", ("status",), "known", "2026-01-01", "2026-06-01")


def options(*accepted: AcceptedDifference, today: date) -> Options:
    """Return options that the check of accepted differences needs."""
    target = replace(targets.load("live", {}), name="night")
    return Options(catalog(), target, ("pa",), ("endpoints",), frozenset(), False, False, Path(), today, accepted)


@pytest.mark.parametrize(
    ("entry", "today", "messages"),
    [
        (ACCEPTED, date(2026, 5, 1), []),
        (ACCEPTED, date(2026, 6, 2), ["was to be reviewed by 2026-06-01"]),
        (replace(ACCEPTED, address="pa/endpoints/models/no_such"), date(2026, 5, 1), ["no record has this address"]),
        (replace(ACCEPTED, target="elsewhere"), date(2030, 1, 1), []),
    ],
)
def test_a_stale_accepted_difference_fails_runs_on_its_target(
    entry: AcceptedDifference, today: date, messages: list[str]
) -> None:
    entries = find_stale_entries(options(entry, today=today))
    assert set(entries) <= {entry.address}
    lines = list(entries.values())
    assert len(lines) == len(messages)
    assert all(words in line for words, line in zip(messages, lines, strict=True))


def test_a_run_with_a_stale_entry_exits_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The shipped file only has shipped records, so another one takes its place."""
    file = tmp_path / "divergences.json"
    use_accepted_differences(file, monkeypatch)
    file.write_text(
        '[{"address":"pa/endpoints/models/no_such","target":"elsewhere","assertions":["answer/status"],"reason":"r",'
        '"first_seen":"2026-01-01","review_by":"2099-01-01"}]'
    )
    with serving(create_app(only=["pa"])) as base:
        target = pa_target(tmp_path / "target.toml", base)
        run_result = probe_here(tmp_path / "out", "--target", target, "-k", "get_model")
    assert run_result.status == 1, run_result.all_output
    assert "divergences.json" in run_result.output
    assert "no record has this address" in run_result.output
    lines = run_result.run.policy["stale_accepted_differences"]
    assert run_result.run.policy["stale_accepted_addresses"] == {"pa/endpoints/models/no_such": lines[0]}
