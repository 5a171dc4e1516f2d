"""No output line contains a CI command or a terminal control, whatever text comes from outside."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from datetime import date
from functools import cache
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog import library
from catalog_probe.catalog.evidence import earlier_runs
from catalog_probe.catalog.model import Attempt, Outcome, Reason
from catalog_probe.catalog.model.assertion import Observation
from catalog_probe.catalog.model.errors import UserError
from catalog_probe.catalog.text.readable_text import (
    escape_hidden,
    escape_hidden_in_json,
    sanitize,
    sanitize_line,
    sanitize_row,
)
from catalog_probe.cli import catalog_commands, cleanup, doctor, record_text
from catalog_probe.cli import doctor as doctor_text
from catalog_probe.cli.identify import format_identity
from catalog_probe.cli.main import main
from catalog_probe.probes.planning.look_ups import Expiration
from catalog_probe.probes.planning.plan import Plan
from catalog_probe.probes.plugin import collecting, progress
from catalog_probe.probes.running.engine import LaneState
from catalog_probe.probes.targets import target_file as targets
from catalog_probe.reports import comparison, news
from catalog_probe.reports.history import build_history_line
from catalog_probe.reports.views import ci_annotations, junit, summary, terminal
from probes import test_errors
from tests.harness.engines import catalog
from tests.unit.catalog.catalog_factories import make_small_catalog, write_catalog
from tests.unit.reports.factories import make_exchange, make_finding, make_result, make_run

if TYPE_CHECKING:
    from argparse import Namespace
    from pathlib import Path

    from catalog_probe.catalog.evidence.results import Result, Run
    from catalog_probe.probes.targets.target import Target

A, B = "pa/errors/general/a", "pb/errors/general/b"
PIECES = ("::", ":", "##[", "##vso[", "#", "[", "]", "error", "stop-commands", " ", "\n", "\r", "\t", "-", "x" * 30)
STEERING = ("\x1b[2J", "\x9b31m", "\x85", "\u2028", "\u202e", "\u200b", ".py", ".py::test_error[", "::1", "[::1]")
FOREIGN_TEXTS = st.lists(st.sampled_from([*PIECES, *STEERING]), max_size=60).map("".join) | st.text(max_size=60)
WIDTHS = st.integers(min_value=10, max_value=200)

COMMAND = re.compile(r"^\s*::|##\w*\[", re.MULTILINE)


def assert_inert(text: str) -> None:
    command = COMMAND.search(text)
    assert command is None, text[max(command.start() - 40, 0) : command.end() + 40]
    assert not [
        character
        for character in text
        if character != "\n" and unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
    ]
    assert not [
        character
        for character in text
        if unicodedata.bidirectional(character) in ("RLO", "LRO", "RLE", "LRE", "RLI", "LRI")
    ]


def make_drift(text: str, address: str = A) -> Result:
    """Return a drift with the text in every field that quotes an answer."""
    finding = make_finding(remark=text, label=text, observed=text, assertion=f"{text}/header:{text}")
    attempt = Attempt("2026-11-21T04:05:00Z", 1.0, (make_exchange(text),))
    accepted_difference = {"standing": "stale", "detail": text, "reason": text}
    observations = (Observation(text, text, (text,), {"status": text}),)
    return make_result(
        address,
        Outcome.DRIFTED,
        findings=(finding,),
        attempts=(attempt,),
        accepted_difference=accepted_difference,
        observations=observations,
    )


def make_inconclusive(text: str) -> Result:
    return make_result(B, Outcome.INCONCLUSIVE, reason=Reason(text or "read-timeout", text))


def make_run_with(text: str) -> tuple[Run, list[Result]]:
    return make_run(run=text, target=text, catalog_digest=text), [make_drift(text), make_inconclusive(text)]


@cache
def load_library() -> library.Library:
    return library.load()


@cache
def load_live_target() -> Target:
    return targets.load("live", {"PA_API_KEY": "mock-pa-inference"})


@given(FOREIGN_TEXTS, FOREIGN_TEXTS)
def test_sanitized_text_contains_no_command(text: str, other: str) -> None:
    for sanitized in (sanitize_line(text), sanitize_row(text), sanitize(f"{text}{other}")):
        assert_inert(sanitized)
        assert re.search(r"(?<![^\s:])::|::(?!test_|\d)", sanitized) is None
    assert "\n" not in sanitize_row(text)


@given(FOREIGN_TEXTS)
def test_sanitizing_is_idempotent(text: str) -> None:
    assert sanitize(sanitize(text)) == sanitize(text)
    assert escape_hidden(escape_hidden(text)) == escape_hidden(text)


def test_node_id_and_url_are_unchanged() -> None:
    command = "pytest 'probes/test_errors.py::test_error[pa/errors/general/a]' --target http://[::1]:8000"
    assert sanitize_line(command) == sanitize_row(command) == sanitize(command) == command


def test_hidden_characters_are_escaped_but_colons_kept() -> None:
    """Lines of HTML and JSON are no commands, and must be copied unchanged."""
    assert escape_hidden("http://[::1]:8000") == "http://[::1]:8000"


@given(FOREIGN_TEXTS, WIDTHS)
def test_terminal_report(text: str, width: int) -> None:
    assert_inert(terminal.render(*make_run_with(text), width=width))
    assert_inert(terminal.render(*make_run_with(text), width=width, quiet=True))


@given(FOREIGN_TEXTS)
def test_summary_and_junit_report(text: str) -> None:
    assert_inert(summary.render(*make_run_with(text)))
    assert_inert(junit.render(*make_run_with(text)))


@given(FOREIGN_TEXTS)
def test_ci_annotations_are_the_only_commands(text: str) -> None:
    for annotation in ci_annotations.render(*make_run_with(text)):
        head, title, message = annotation.split("::", 2)[0], *annotation.split("::", 2)[1:]
        assert head == ""
        assert re.fullmatch("(error|warning|notice) title=[^:,]*", title)
        assert_inert(f"{title}  {message}")


@given(FOREIGN_TEXTS)
def test_news(text: str) -> None:
    run, results = make_run_with(text)
    line = build_history_line(run, results)
    rows = earlier_runs.parse_history_lines([{**line, "addresses": [f"{text}/errors/general/{slug}" for slug in "ab"]}])
    assert_inert(json.dumps(escape_hidden_in_json(news.build_news(text, rows, text)), ensure_ascii=False, indent=2))


@given(FOREIGN_TEXTS)
def test_comparison_of_runs(text: str) -> None:
    first, second = make_run_with(text), (make_run(run="other"), [make_result(A), make_result(B)])
    assert_inert(comparison.render(first, second) or "")
    observations = (Observation("", "answer", ("status",)),), (Observation("", "answer", (), {"status": text}),)
    old, new = ([make_result(A, observations=observation)] for observation in observations)
    comparison_text = comparison.render((make_run(), old), (make_run(run=text), new))
    assert comparison_text is not None
    assert_inert(comparison_text)


@given(FOREIGN_TEXTS)
def test_pytest_output_of_an_item(text: str) -> None:
    assert_inert(collecting.describe_failure(make_drift(text)))
    assert_inert(collecting.describe_reason(make_inconclusive(text)))
    for result in (make_drift(text), make_inconclusive(text)):
        with pytest.raises((pytest.fail.Exception, pytest.skip.Exception, pytest.xfail.Exception)) as raised:
            test_errors.test_error(result)
        assert_inert(str(raised.value))


@given(FOREIGN_TEXTS)
def test_progress_lines(text: str) -> None:
    assert_inert(progress.status_line({"pa": Counter()}, {"pa": 1}, [LaneState(text, 1)]))
    assert_inert(progress.provider_line(text, Counter()))


@given(FOREIGN_TEXTS)
def test_user_error(text: str) -> None:
    assert_inert(str(UserError(text, text, location=text)))


@given(FOREIGN_TEXTS)
def test_identified_answer(text: str) -> None:
    body_with_known_type = {"type": "error", "error": {"type": "not_found_error", "message": text}}
    for body in (body_with_known_type, {"type": "error", "error": {"type": text, "message": text}}, text):
        identity = load_library().identify("pa", 404, {"x-text": text, "retry-after": text}, body)
        assert_inert(format_identity(identity, load_library()))


@given(FOREIGN_TEXTS)
def test_shown_record(text: str) -> None:
    record = catalog()["pa/errors/general/unknown_model"]
    changed = type(record)(record.address, {**record.data, "message_semantics": text, "name": text})
    assert_inert(record_text.format_record(changed, "file", [], [text]))


@given(FOREIGN_TEXTS)
def test_doctor_report(text: str) -> None:
    target = load_live_target()
    diagnosis = doctor.Diagnosis(
        target=target,
        catalog=catalog(),
        plans={name: Plan({}, {A: Reason("credential-missing", text)}) for name in target.providers},
        fault_free_requests=dict.fromkeys(target.providers, ()),
        checks=[doctor.Check("pa", "inference", text, 1.0, text)],
        looked_up=(),
        gains=(),
        records=(),
        expirations=[Expiration("pa", text, date(2026, 11, 22), 1, text)],
        today=date(2026, 11, 21),
    )
    assert_inert("\n".join(doctor_text.format_diagnosis(diagnosis, text)))


WRAPPED = "\n ".join(["", "::error::x", "##[add-mask]x", "\x1b[2J", "\u202e", "\r::stop-commands::x"])


def test_output_of_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    content = make_small_catalog()
    content["pa/errors/general.json"]["rate_limit_error"]["name"] = WRAPPED
    write_catalog(tmp_path / "records", content)
    (tmp_path / "night.toml").write_text(f"name = {json.dumps(WRAPPED)}\nnonsense = 1\n")
    monkeypatch.setattr(cleanup, "clean_up", lambda *_, **__: [cleanup.CleanupResult(WRAPPED, left=True)])
    records = ("--catalog", str(tmp_path / "records"))
    for command in (
        ["catalog", "find", "--status", "429", *records],
        ["catalog", "show", "--json", "pa/errors/general/rate_limit_error", *records],
        ["check", *records],
        ["target", "cleanup", "--target", "live"],
        ["target", "doctor", "--target", str(tmp_path / "night.toml")],
    ):
        main(command)
        output = "".join(capsys.readouterr())
        assert output
        assert_inert(output)


def test_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def raise_error(_: Namespace) -> int:
        raise RuntimeError(WRAPPED)

    monkeypatch.setattr(catalog_commands, "explain_codes", raise_error)
    assert main(["catalog", "explain", "--catalog", str(write_catalog(tmp_path))]) == 3
    output = "".join(capsys.readouterr())
    assert "RuntimeError" in output
    assert_inert(output)
