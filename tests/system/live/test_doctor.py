"""The doctor: configuration, gaps and keys, without a billable request."""

from __future__ import annotations

import os
import re
import shlex
from datetime import date
from typing import TYPE_CHECKING

import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from catalog_probe.catalog.model.errors import Exit
from catalog_probe.cli import doctor
from catalog_probe.cli import doctor as doctor_text
from catalog_probe.cli import target_commands as command
from catalog_probe.mockserver.app import create_app
from catalog_probe.probes.running.looking_up import collect_unanswered, look_up
from catalog_probe.probes.targets import target_file as targets
from catalog_probe.probes.targets.target import Cost
from catalog_probe.probes.wire.redaction import Redactor
from tests.harness.command import TARGET_VARIABLES
from tests.harness.engines import catalog
from tests.harness.live import KEYS, mock_process, write_live_target
from tests.harness.serving import serving

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.requests import Request


def test_a_ready_target_is_fine_and_costs_one_free_request_a_key(tmp_path: Path) -> None:
    app = create_app(only=["pa"])
    with serving(app) as base:
        target = write_live_target(tmp_path, {"pa": f"{base}/pa"}).target
        diagnosis = doctor.examine(catalog(), target, frozenset({Cost.FREE}), date(2026, 11, 21))
        assert app.world.total_requests == 1
    text = "\n".join(doctor_text.format_diagnosis(diagnosis))
    assert diagnosis.is_healthy
    assert "fine: `pytest probes --target 'my night.toml'` sends what is planned" in doctor_text.format_diagnosis(
        diagnosis, "my night.toml"
    )
    assert "fine: `pytest probes --target live --provider pa` sends what is planned" in doctor_text.format_diagnosis(
        diagnosis, "live", providers=["pa"]
    )
    assert "inference (PA_API_KEY)  works: GET /v1/models" in text
    assert re.search(r"\+\d+ +--allow billable", text)
    (records,) = diagnosis.records
    assert f"    {records.shown:>4} shown with the keys, values and costs of this target" in text
    assert "at most" in text
    assert KEYS["PA_API_KEY"] not in text


def test_a_dead_key_is_named_by_its_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PA_API_KEY", "mock-pa-no-such-key")
    with mock_process("pa") as addresses:
        assert command.main(["doctor", "--target", str(write_live_target(tmp_path, addresses).path)]) == 1
    text = capsys.readouterr().out
    assert "dead: pa inference: control-failed" in text
    assert "look at PA_API_KEY" in text
    assert "mock-pa-no-such-key" not in text


def test_an_address_without_the_api_is_suspected_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PA_API_KEY", "mock-pa-inference")
    with serving(create_app(only=["pa"])) as base:
        monkeypatch.setenv("PA_BASE_URL", f"{base}/nowhere")
        assert command.main(["doctor", "--target", "live"]) == 1
    assert "; look at PA_API_KEY and PA_BASE_URL" in capsys.readouterr().out


def test_the_suggested_command_runs_what_was_planned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the target's path and the allowed costs as given."""
    monkeypatch.setenv("PA_API_KEY", "mock-pa-inference")
    with serving(create_app(only=["pa"])) as base:
        given = write_live_target(tmp_path, {"pa": f"{base}/pa"}).path
        assert command.main(["doctor", "--target", str(given), "--allow", "billable,destructive"]) == 0
    (last,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("fine: ")]
    named = shlex.join(["pytest", "probes", "--target", str(given), "--allow", "billable,destructive"])
    assert last == f"fine: `{named}` sends what is planned"


GOES = "2026-12-03T00:00:00Z"


def models_one_by_one(*ids: str) -> Starlette:
    """A service that lists one model a page, all retired on 3 December."""

    async def listing(request: Request) -> Response:
        number = ids.index(request.query_params["after_id"]) + 1 if "after_id" in request.query_params else 0
        more = number + 1 < len(ids)
        return JSONResponse(
            {"data": [{"id": ids[number], "retires_at": GOES}], "last_id": ids[number], "has_more": more}
        )

    return Starlette(routes=[Route("/v1/models", listing)])


@pytest.mark.parametrize(
    ("model_ids", "expected_model"),
    [(("large-1", "haiku-1"), "haiku-1"), (("anything",), "anything"), (tuple("abcdefg"), "a")],
    ids=["on the second page", "of an unknown name", "more pages than are read"],
)
def test_a_model_is_found_on_any_page(model_ids: tuple[str, ...], expected_model: str) -> None:
    with serving(models_one_by_one(*model_ids)) as base:
        target = targets.load("live", {"PA_API_KEY": "key-of-nobody", "PA_BASE_URL": base})
        output = doctor_text.format_diagnosis(
            doctor.examine(catalog(), target, frozenset({Cost.FREE}), date(2026, 11, 21))
        )
    assert [line.split()[-1] for line in output if "found" in line and " small_model" in line] == [expected_model]
    (end,) = [line for line in output if "`small_model`" in line]
    text = rf"In 12 days `small_model` \({expected_model}\) of PA ends: \d+ records would be blind; set PA_SMALL_MODEL"
    assert re.fullmatch(text, end)


@pytest.mark.parametrize(
    ("status", "content_type", "left_open"),
    [
        (502, "text/html", {"organization", "role", "user"}),
        (503, "application/json", {"organization", "role", "user"}),
        (403, "text/html", {"organization", "role", "user"}),
        (403, "application/json", set()),
        (404, "application/json", set()),
        (200, "application/json", set()),
    ],
)
def test_only_failed_look_ups_leave_values_open(status: int, content_type: str, left_open: set[str]) -> None:
    """Values that depend on an unknown value stay open too; a refusal or an empty list is an answer."""

    def output(_: Request) -> Response:
        return Response("{}" if "json" in content_type else "<html></html>", status, media_type=content_type)

    with serving(Starlette(routes=[Route("/v1/compliance/organizations", output)])) as base:
        target = targets.load("live", {"PA_COMPLIANCE_KEY": "key-of-nobody", "PA_BASE_URL": base})
        rules = [
            rule for rule in target.providers["pa"].rules_to_follow if rule.value in ("organization", "role", "user")
        ]
        looked_up = look_up({"pa": tuple(rules)}, target, Redactor.for_target(target))
    assert collect_unanswered(looked_up)["pa"].keys() == left_open
    (asked,) = looked_up
    assert asked.trouble == ("" if status == 200 else f"HTTP {status}")


def test_a_key_whose_default_host_is_not_asked_is_not_dead() -> None:
    """PD_MANAGEMENT_KEY is for a host of its own, which is left out while PD_BASE_URL names another server."""
    with serving(create_app(only=["pd"])) as base:
        environ = {"PD_BASE_URL": f"{base}/pd", "PD_API_KEY": "mock-pd-inference", "PD_MANAGEMENT_KEY": "a-key-of-it"}
        target = targets.load("live", environ)
        diagnosis = doctor.examine(catalog(), target, frozenset({Cost.FREE}), date(2026, 11, 21))
    text = "\n".join(doctor_text.format_diagnosis(diagnosis))
    assert diagnosis.failed_checks == []
    assert re.search(r"address +management_url +not asked; set PD_MANAGEMENT_URL; its default is not asked", text)
    assert "management (PD_MANAGEMENT_KEY)" in text


def test_an_expected_provider_that_is_not_configured_is_missing() -> None:
    target = targets.load("live", {"PA_EXPECTED": "true"})
    diagnosis = doctor.examine(catalog(), target, frozenset({Cost.FREE}), date(2026, 11, 21))
    assert not diagnosis.is_healthy
    assert diagnosis.missing == ["pa"]
    assert "missing: pa is expected and nothing of it can be probed: set PA_API_KEY" in doctor_text.format_diagnosis(
        diagnosis
    )


@pytest.mark.parametrize(("provider", "blank"), [("pa", ""), ("pb", " \t\n"), ("pc", ""), ("pd", "")])
def test_an_empty_key_variable_is_reported_as_the_missing_key(provider: str, blank: str) -> None:
    name = f"{provider.upper()}_API_KEY"
    diagnosis = doctor.examine(
        catalog(), targets.load("live", {name: blank}), frozenset({Cost.FREE}), date(2026, 11, 21)
    )
    assert not diagnosis.is_healthy
    assert [line for line in doctor_text.format_diagnosis(diagnosis) if line.startswith("missing: ")] == [
        f"missing: {provider} is expected and nothing of it can be probed: {name} is set but empty; set it to the key, "
        "or unset it"
    ]
    assert diagnosis.status == Exit.BLIND


def test_without_any_key_the_doctor_says_how_to_begin(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in os.environ if name.startswith(TARGET_VARIABLES)]:
        monkeypatch.delenv(name)
    assert command.main(["doctor"]) == Exit.BLIND
    text = capsys.readouterr().out
    assert "nothing is configured, so a run ends with 10: one key is enough to begin; set PA_API_KEY or set PB" in text
    assert len(text.splitlines()) < 25


def test_the_key_of_an_sdk_is_named_where_ours_is_missing() -> None:
    environ = {"OPENAI_API_KEY": "sk-canary-of-nobody", "OPENAI_BASE_URL": "https://gateway.example"}
    diagnosis = doctor.examine(catalog(), targets.load("live", environ), frozenset(), date(2026, 11, 21))
    text = "\n".join(doctor_text.format_diagnosis(diagnosis))
    assert "set PC_API_KEY to what OPENAI_API_KEY holds, which does not count while OPENAI_BASE_URL is set" in text
    assert "not configured: set PA_API_KEY\n" in text
    assert "canary" not in text


@pytest.mark.parametrize(
    "arguments", [["doctor", "--target", "nowhere"], ["doctor", "--allow", "everything"], ["no-such-command"]]
)
def test_wrong_usage_is_4_and_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(arguments) == 4
    text = capsys.readouterr().err
    assert "Traceback" not in text
    assert text.strip()
