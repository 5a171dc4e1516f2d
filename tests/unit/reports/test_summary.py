"""summary.md for a pull request, in which observed text is never Markdown."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from functools import reduce
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from catalog_probe.catalog.evidence.results import Invocation
from catalog_probe.catalog.evidence.results_file import EvidenceError, read_run, report_unusable_evidence
from catalog_probe.catalog.model import Outcome, Reason
from catalog_probe.catalog.model.assertion import Observation
from catalog_probe.reports.views import summary
from tests.unit.reports import sample
from tests.unit.reports.factories import make_finding, make_result, make_run
from tests.unit.reports.special_results import HOSTILE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from syrupy.assertion import SnapshotAssertion

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.model import Json

A = "pa/errors/general/a"
FOLDS = {
    "<details><summary>its records, and what to do</summary>",
    "<details><summary>Families that do not all conform (1 of 1)</summary>",
    "</details>",
}
"""All the HTML that a summary of one drift holds."""


def test_the_summary_of_a_run(snapshot: SnapshotAssertion) -> None:
    assert summary.render(*sample.make_full_run()) == snapshot


def test_the_summary_of_a_night_in_which_nothing_happened(snapshot: SnapshotAssertion) -> None:
    assert summary.render(make_run(), [make_result(A)]) == snapshot


@given(st.text())
def test_observed_text_is_code_and_nothing_else(text: str) -> None:
    (block,) = (token for token in MarkdownIt("commonmark").parse(f"- x {summary.code_span(text)}") if token.children)
    kinds = [token.type for token in block.children or ()]
    assert kinds == ["text", "code_inline"]


@given(st.text())
def test_a_hostile_message_makes_no_link_image_or_markup(text: str) -> None:
    wrong = make_finding(remark=text, location=text, observed=text)
    rendered = summary.render(make_run(), [make_result(A, Outcome.DRIFTED, findings=(wrong,))])
    markdown = MarkdownIt("commonmark")
    inline = [child for token in markdown.parse(rendered) for child in token.children or ()]
    links = [token.attrGet("href") for token in inline if token.type == "link_open"]
    assert all(str(link).partition("#")[0] == "report.html" for link in links)
    assert not [token for token in inline if token.type in ("image", "html_inline")]
    blocks = [token for token in markdown.parse(rendered) if token.type in ("html_block", "fence", "code_block")]
    assert {token.content.strip() for token in blocks} <= FOLDS


def test_mentions_and_issue_numbers_stand_in_code() -> None:
    rendered = summary.render(make_run(), [make_result(A, Outcome.DRIFTED, findings=(make_finding(observed=HOSTILE),))])
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", rendered)
    assert "@everyone" not in outside
    assert "#1" not in outside
    assert "evil.example" not in outside


ACCEPTED = {"state": "accounted", "reason": "a fix is due", "detail": "accepted", "review_by": "2027-01-01"}


def test_an_accepted_drift_has_its_review_date_and_reason() -> None:
    rendered = summary.render(
        make_run(), [make_result(A, Outcome.DRIFTED, findings=(make_finding(),), accepted_difference=ACCEPTED)]
    )
    assert "1 record, likely wrong: provider, `a fix is due; review by 2027-01-01`" in rendered
    assert "review by" not in summary.render(
        make_run(), [make_result(A, Outcome.DRIFTED, accepted_difference={"state": "accounted"})]
    )


def test_a_blind_night_does_not_claim_that_nothing_changed() -> None:
    refused = make_result(A, Outcome.RESTRICTED, reason=Reason("probe-refused"))
    rendered = summary.render(make_run(), [refused])
    assert "### Blind\n\n- **PA**: blind: `no record has a verdict (probe-refused)`" in rendered
    assert "Nothing changed." not in rendered
    observed = make_result("pb/errors/general/b")
    assert "Nothing changed." in summary.render(make_run(expected=()), [refused, observed])
    assert "- **PA**: blind: " in summary.render(make_run(expected=()), [refused]), "a run without any verdict is blind"


def test_omitted_records_are_counted() -> None:
    results = [
        make_result(f"pa/errors/general/r{number}", Outcome.FLAKY, reason=Reason("attempts-differ"))
        for number in range(summary.LISTED + 6)
    ]
    assert "… and 6 more, in the report" in summary.render(make_run(), results)


def test_it_is_never_too_long_for_a_pull_request() -> None:
    wrong = tuple(make_finding(remark="x" * 400) for _ in range(3))
    results = [
        make_result(
            f"pa/errors/f{number % 900}/r{number}",
            list(Outcome)[number % 7],
            findings=wrong,
            reason=Reason("r", "y" * 400),
        )
        for number in range(1500)
    ]
    rendered = summary.render(make_run(), results)
    assert len(rendered.encode()) <= summary.MAX_BYTES
    cut = re.search(r"… cut here to stay short; (\d+) more of its parts are in the \[full report\]", rendered)
    assert cut is not None
    uncut = summary.render(make_run(), results[:10])
    assert "cut here" not in uncut
    assert int(cut[1]) > 0


FORGED = "<img src=x> @everyone [a](https://evil.example) #1"
NIGHT = make_run(
    expected=("pa", "pb"),
    selected=(A,),
    self_tests=("pa:inference",),
    previous_run="r1",
    policy={"allow": ["free"], "kinds": ["errors"], "shard": "1/2", "stale_accepted_differences": ["x"]},
    invocation=Invocation(revision="pa:2026-10-21"),
    revisions={"pa": "2026-10-21"},
    expirations=({"provider": "pa", "what": "a key", "on": "2026-11-25", "records": 1, "mend": "renew"},),
    preflight=({"provider": "pa", "request": "GET /v1/models", "values": {"a": "b"}, "expirations": {}},),
    traffic={
        "exchanges": 1,
        "judged": 0,
        "left_out": {"without its body": 1},
        "unrecognised": [
            {"provider": "pa", "endpoint": "", "status": 400, "code": "x", "count": 1, "why": "new", "candidates": [A]}
        ],
    },
)
RESULTS_OF_NIGHTS = {
    "conforming": make_result(A),
    "blind": make_result(A, Outcome.NOT_PROBED, reason=Reason("credential-empty", "set PA_API_KEY")),
    "inconclusive": make_result(A, Outcome.INCONCLUSIVE, reason=Reason("read-timeout", "30 s"), lane="pa:inference"),
    "broken": make_result(A, Outcome.HARNESS_ERROR, reason=Reason("recipe-failed", "TypeError"), lane="pa:inference"),
    "accepted": make_result(A, Outcome.DRIFTED, findings=(make_finding(),), accepted_difference=ACCEPTED),
    "drifted": make_result(
        A,
        Outcome.DRIFTED,
        findings=(make_finding(endpoints=("pa/endpoints/messages/create_message",)),),
        observations=tuple(
            Observation(f"pa/endpoints/messages/{name}", "answer") for name in ("create_message", "count_tokens")
        ),
    ),
}


@pytest.mark.parametrize("result", RESULTS_OF_NIGHTS.values(), ids=RESULTS_OF_NIGHTS)
def test_no_field_of_a_results_file_is_markdown(result: Result, tmp_path: Path) -> None:
    """Whatever the file says in place of a string is refused when the file is read, or is code in the summary."""
    lines = [json.loads(json.dumps(line.to_json())) for line in (NIGHT, result)]
    file = tmp_path / "results.jsonl"
    for location in walk_strings(lines):
        file.write_text("".join(f"{json.dumps(line)}\n" for line in replace_at(lines, location, FORGED)))
        with suppress(EvidenceError), report_unusable_evidence(file):
            outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", summary.render(*read_run(file)).lower())
            assert not re.search(r"<img|@everyone|evil\.example|#1\b", outside), location


def walk_strings(value: Json, location: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of each string in a value."""
    if isinstance(value, str):
        yield location
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in members:
        yield from walk_strings(member, (*location, name))


def replace_at(value: Json, location: tuple[str | int, ...], replacement: str) -> Json:
    """Return a copy of a value with another string at one location."""
    copy = json.loads(json.dumps(value))
    parent = reduce(lambda inner, name: inner[name], location[:-1], copy)
    parent[location[-1]] = replacement
    return copy
