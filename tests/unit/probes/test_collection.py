"""Which records a run selects, in which order, which selections are refused, and how each test ends."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.evidence import run_verdict
from catalog_probe.catalog.evidence.results import Result
from catalog_probe.catalog.model import Aspect, Finding, Outcome, Reason, Severity
from catalog_probe.catalog.model.errors import Exit
from catalog_probe.probes.planning.plan import count_facts
from catalog_probe.probes.plugin.collecting import address_of
from catalog_probe.probes.plugin.options import UsageError, is_query, list_unknown_words, require_records
from catalog_probe.reports.content.commands import build_nodeid
from probes import test_endpoints, test_errors, test_rate_limits
from tests.harness.command import run_pytest_here
from tests.harness.engines import catalog
from tests.harness.live import write_live_target

if TYPE_CHECKING:
    from pathlib import Path


ADDRESS = "pa/errors/general/unknown_model"
NODE_ID = f"probes/test_errors.py::test_error[{ADDRESS}]"


def test_every_record_may_be_selected(subtests: pytest.Subtests) -> None:
    for prefix in ["", "/somewhere/else/", "../"]:
        with subtests.test(prefix=prefix):
            require_records([f"{prefix}{build_nodeid(record.address)}" for record in catalog().records], catalog())
            require_records(["probes", "probes/test_errors.py", "probes/test_errors.py::test_error"], catalog())


@pytest.mark.parametrize(
    ("node_id", "advice"),
    [
        (f"probes/test_errors.py::test_error[{ADDRESS}s]", ADDRESS),
        ("probes/test_errors.py::test_error[nothing/like/it/anywhere]", "`catalog-probe catalog find WORDS`"),
        (f"probes/test_eror.py::test_error[{ADDRESS}]", f"write `pytest '{NODE_ID}'`"),
        (f"probes/test_errors.py::test_endpoint[{ADDRESS}]", "not the probe of this record"),
    ],
)  # fmt: skip
def test_mistyped_node_id_is_refused_with_advice(node_id: str, advice: str) -> None:
    with pytest.raises(UsageError) as error:
        require_records([node_id], catalog())
    assert advice in str(error.value).removeprefix(node_id)
    assert "\n" not in str(error.value)


def test_unknown_words_of_an_expression_are_listed() -> None:
    assert list_unknown_words("unknwon_model and not 429", catalog()) == [
        "-k unknwon_model: no record has it; did you mean unknown_model?"
    ]
    assert list_unknown_words("unknown_model or (GET and 429)", catalog()) == []
    assert "did you mean pb/errors/general" in list_unknown_words("pb/errors/genral", catalog())[0]
    assert list_unknown_words("pb/errors/general", catalog()) == []
    assert "catalog find" in list_unknown_words("zzz", catalog())[0]


class Reversing:
    """Reverses the items, and keeps the addresses in the final order."""

    def __init__(self) -> None:
        self.addresses: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.reverse()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.addresses = [address_of(item) or "" for item in session.items]


def collect(*arguments: str) -> list[str]:
    """Return the addresses of a run with these arguments, in its order."""
    reversing = Reversing()
    assert run_pytest_here("probes", "--collect-only", "-q", *arguments, plugins=[reversing]) == 0
    return reversing.addresses


FEW = ("--kind", "errors", "-k", "404")


def test_records_are_grouped_by_provider(tmp_path: Path) -> None:
    addresses = collect("--out", str(tmp_path), *FEW)
    providers = [address.partition("/")[0] for address in addresses]
    assert len(set(providers)) > 1
    assert providers == sorted(providers)


def test_limited_run_probes_records_with_most_facts_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = write_live_target(tmp_path, {"pa": "http://127.0.0.1:9/pa"}, max_requests=5)
    for name, value in target.environ.items():
        monkeypatch.setenv(name, value)
    addresses = collect("--target", str(target.path), "--out", str(tmp_path), *FEW)
    unlimited = [str(record.address) for record in catalog().select("pa", "errors")]
    assert addresses != [address for address in unlimited if address in addresses]
    facts = count_facts("pa", catalog())
    assert facts[addresses[0]] > facts[addresses[-1]]


DRIFT = Finding("status-differs", Aspect.STATUS, Severity.MUST, "status: documented 404, observed 410", "answer")
UNLISTED_DRIFT = replace(DRIFT, aspect=Aspect.CLOSE)
RESULT = Result(ADDRESS, catalog()[ADDRESS].data, Outcome.CONFORMS)
NO_KEY = Reason("credential-missing", "set PA_API_KEY")
DRIFTED = replace(RESULT, outcome=Outcome.DRIFTED, findings=(DRIFT,))
FLAKY = replace(RESULT, outcome=Outcome.FLAKY, reason=Reason("attempts-differ", "conforms, then drifted"))


@pytest.mark.parametrize(
    ("result", "end", "message"),
    [
        (RESULT, None, ""),
        (DRIFTED, pytest.fail.Exception, "status: documented 404, observed 410"),
        (replace(DRIFTED, findings=(UNLISTED_DRIFT,)), pytest.fail.Exception, "observed 410"),
        (FLAKY, pytest.fail.Exception, "flaky: conforms, then drifted"),
        (replace(RESULT, accepted_difference={"state": "stale"}), pytest.fail.Exception, "stale accepted difference"),
        (
            replace(DRIFTED, accepted_difference={"state": "accounted", "reason": "ticket 7"}),
            pytest.xfail.Exception,
            "ticket 7",
        ),
        (
            replace(RESULT, outcome=Outcome.NOT_PROBED, reason=NO_KEY),
            pytest.skip.Exception,
            "not_probed: credential-missing",
        ),
        (replace(RESULT, outcome=Outcome.RESTRICTED), pytest.skip.Exception, "restricted"),
    ],
)
def test_test_of_a_record_ends_as_its_result_says(
    result: Result, end: type[BaseException] | None, message: str
) -> None:
    for test in (test_errors.test_error, test_endpoints.test_endpoint, test_rate_limits.test_rate_limit):
        with pytest.raises(end, match=message) if end is not None else nullcontext():
            test(result)
    assert (end is pytest.fail.Exception) is run_verdict.is_failure(result)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("404", False),
        ("retry:no", False),
        ("/v1/models", False),
        ("404 and (pa or not pb)", False),
        ("", False),
        ("status:429 quota", True),
        ("/v1/models/{model}", True),
        ("404→400", True),
    ],
)
def test_what_pytest_cannot_read_is_a_query(expression: str, expected: bool) -> None:
    assert is_query(expression) is expected


@pytest.mark.parametrize(
    "query", ["status:404 provider:anthropic /v1/messages/batches", "429 and anthropic and retry:no"]
)
def test_k_selects_by_a_query_or_an_expression(query: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_pytest_here("probes", "--plan", "-k", query) == Exit.FINE
    assert "/ 510 deselected / 1 selected" in capsys.readouterr().out


def test_a_query_that_selects_nothing_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_pytest_here("probes", "--plan", "-k", "status:429 quotta") == Exit.NOTHING_SELECTED
    assert "-k quotta: no record has it; did you mean quota?" in capsys.readouterr().out
    assert list_unknown_words("/v1/mesages", catalog()) == [
        "-k /v1/mesages: no record has it; did you mean /v1/messages?"
    ]
