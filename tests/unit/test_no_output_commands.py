"""Whatever comes from outside, no line of our output is a command to a CI system, or steers a terminal."""

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
from catalog_probe.catalog.model.errors import UserError
from catalog_probe.catalog.model.observation import Observation
from catalog_probe.catalog.text.sanitizing import (
    escape_hidden,
    escape_hidden_in_json,
    sanitize,
    sanitize_line,
    sanitize_row,
)
from catalog_probe.cli.catalog_commands import commands, show
from catalog_probe.cli.identity_text import format_identity
from catalog_probe.cli.main import main
from catalog_probe.cli.target_commands import cleanup, doctor, doctor_text
from catalog_probe.probes.planning.expirations import Expiration
from catalog_probe.probes.planning.plan import Plan
from catalog_probe.probes.plugin import progress
from catalog_probe.probes.plugin.collection import outcomes
from catalog_probe.probes.running.engine import LaneState
from catalog_probe.probes.targets import target_file as targets
from catalog_probe.reports import comparison
from catalog_probe.reports.history.history_line import build_history_line
from catalog_probe.reports.news import feed, news
from catalog_probe.reports.views import ci_annotations, junit, summary, terminal
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
FROM_OUTSIDE = st.lists(st.sampled_from([*PIECES, *STEERING]), max_size=60).map("".join) | st.text(max_size=60)
WIDTHS = st.integers(min_value=10, max_value=200)

COMMAND = re.compile(r"^\s*::|##\w*\[", re.MULTILINE)


def assert_inert(text: str) -> None:
    found = COMMAND.search(text)
    assert found is None, text[max(found.start() - 40, 0) : found.end() + 40]
    assert not [each for each in text if each != "\n" and unicodedata.category(each) in ("Cc", "Cs", "Zl", "Zp")]
    assert not [each for each in text if unicodedata.bidirectional(each) in ("RLO", "LRO", "RLE", "LRE", "RLI", "LRI")]


def drifted(text: str, address: str = A) -> Result:
    """A drift with the text wherever an answer is told."""
    found = make_finding(message=text, label=text, observed=text, assertion=f"{text}/header:{text}")
    seen = Attempt("2026-11-21T04:05:00Z", 1.0, (make_exchange(text),))
    accepted = {"standing": "stale", "detail": text, "reason": text}
    observations = (Observation(text, text, (text,), {"status": text}),)
    return make_result(
        address,
        Outcome.DRIFTED,
        findings=(found,),
        attempts=(seen,),
        accepted_difference=accepted,
        observations=observations,
    )


def unseen(text: str) -> Result:
    return make_result(B, Outcome.INCONCLUSIVE, reason=Reason(text or "read-timeout", text))


def night(text: str) -> tuple[Run, list[Result]]:
    return make_run(run=text, target=text, catalog_digest=text), [drifted(text), unseen(text)]


@cache
def shipped() -> library.Library:
    return library.load()


@cache
def live_target() -> Target:
    return targets.load("live", {"PA_API_KEY": "mock-pa-inference"})


@given(FROM_OUTSIDE, FROM_OUTSIDE)
def test_no_text_is_a_command_wherever_it_is_broken(text: str, other: str) -> None:
    for shown in (sanitize_line(text), sanitize_row(text), sanitize(f"{text}{other}")):
        assert_inert(shown)
        assert re.search(r"(?<![^\s:])::|::(?!test_|\d)", shown) is None
    assert "\n" not in sanitize_row(text)


@given(FROM_OUTSIDE)
def test_once_harmless_it_stays_as_it_is(text: str) -> None:
    assert sanitize(sanitize(text)) == sanitize(text)
    assert escape_hidden(escape_hidden(text)) == escape_hidden(text)


def test_an_id_of_a_test_and_an_address_can_be_pasted() -> None:
    told = "pytest 'probes/test_errors.py::test_error[pa/errors/general/a]' --target http://[::1]:8000"
    assert sanitize_line(told) == sanitize_row(told) == sanitize(told) == told


def test_what_a_page_shows_keeps_its_colons() -> None:
    """No line of HTML or JSON is a command, and what is copied from there is to be what was seen."""
    assert escape_hidden("http://[::1]:8000") == "http://[::1]:8000"


@given(FROM_OUTSIDE, WIDTHS)
def test_the_terminal(text: str, width: int) -> None:
    assert_inert(terminal.render(*night(text), width=width))
    assert_inert(terminal.render(*night(text), width=width, quiet=True))


@given(FROM_OUTSIDE)
def test_what_a_run_leaves_to_be_printed(text: str) -> None:
    assert_inert(summary.render(*night(text)))
    assert_inert(junit.render(*night(text)))


@given(FROM_OUTSIDE)
def test_annotations_are_the_commands_that_we_mean(text: str) -> None:
    for told in ci_annotations.render(*night(text)):
        head, title, said = told.split("::", 2)[0], *told.split("::", 2)[1:]
        assert head == ""
        assert re.fullmatch("(error|warning|notice) title=[^:,]*", title)
        assert_inert(f"{title}  {said}")


@given(FROM_OUTSIDE)
def test_the_changelog_and_the_news(text: str) -> None:
    described, results = night(text)
    kept = build_history_line(described, results)
    rows = earlier_runs.parse_history_lines([{**kept, "addresses": [f"{text}/errors/general/{each}" for each in "ab"]}])
    assert_inert(feed.render(text, rows))
    assert_inert(json.dumps(escape_hidden_in_json(news.build_news(text, rows, text)), ensure_ascii=False, indent=2))


@given(FROM_OUTSIDE)
def test_runs_beside_each_other(text: str) -> None:
    first, second = night(text), (make_run(run="other"), [make_result(A), make_result(B)])
    assert_inert(comparison.render(first, second) or "")
    observations = (Observation("", "answer", ("status",)),), (Observation("", "answer", (), {"status": text}),)
    one, other = ([make_result(A, observations=own)] for own in observations)
    told = comparison.render((make_run(), one), (make_run(run=text), other))
    assert told is not None
    assert_inert(told)


@given(FROM_OUTSIDE)
def test_what_pytest_prints_of_an_item(text: str) -> None:
    assert_inert(outcomes.describe_failure(drifted(text)))
    assert_inert(outcomes.describe_reason(unseen(text)))
    for settled in (drifted(text), unseen(text)):
        with pytest.raises((pytest.fail.Exception, pytest.skip.Exception, pytest.xfail.Exception)) as raised:
            outcomes.settle(settled)
        assert_inert(str(raised.value))


@given(FROM_OUTSIDE)
def test_the_line_that_says_how_far_a_run_is(text: str) -> None:
    assert_inert(progress.status_line({"pa": Counter()}, {"pa": 1}, [LaneState(text, 1)]))
    assert_inert(progress.provider_line(text, Counter()))


@given(FROM_OUTSIDE)
def test_a_mistake_that_a_person_can_mend(text: str) -> None:
    assert_inert(str(UserError(text, text, location=text)))


@given(FROM_OUTSIDE)
def test_an_answer_that_is_recognised(text: str) -> None:
    known = {"type": "error", "error": {"type": "not_found_error", "message": text}}
    for body in (known, {"type": "error", "error": {"type": text, "message": text}}, text):
        found = shipped().identify("pa", 404, {"x-text": text, "retry-after": text}, body)
        assert_inert(format_identity(found, shipped()))


@given(FROM_OUTSIDE)
def test_a_record_whose_evidence_holds_what_was_seen(text: str) -> None:
    record = catalog()["pa/errors/general/unknown_model"]
    told = type(record)(record.address, {**record.data, "message_semantics": text, "name": text})
    assert_inert(show.format_record(told, "file", [], [text]))


@given(FROM_OUTSIDE)
def test_the_doctor(text: str) -> None:
    live = live_target()
    found = doctor.Diagnosis(
        target=live,
        catalog=catalog(),
        plans={name: Plan({}, {A: Reason("credential-missing", text)}) for name in live.providers},
        fault_free_requests=dict.fromkeys(live.providers, ()),
        checks=[doctor.Check("pa", "inference", text, 1.0, text)],
        looked_up=(),
        gains=(),
        expirations=[Expiration("pa", text, date(2026, 11, 22), 1, text)],
        today=date(2026, 11, 21),
    )
    assert_inert("\n".join(doctor_text.format_diagnosis(found, text)))


WRAPPED = "\n ".join(["", "::error::x", "##[add-mask]x", "\x1b[2J", "\u202e", "\r::stop-commands::x"])


def test_what_commands_print_of_records_and_of_targets(
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
        said = "".join(capsys.readouterr())
        assert said
        assert_inert(said)


def test_a_traceback_of_our_own(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(_: Namespace) -> int:
        raise RuntimeError(WRAPPED)

    monkeypatch.setattr(commands, "explain", broken)
    assert main(["catalog", "explain"]) == 3
    said = "".join(capsys.readouterr())
    assert "RuntimeError" in said
    assert_inert(said)
