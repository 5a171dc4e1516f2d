"""Schemathesis finds that the mock answers as our OpenAPI export says.

It has an environment of its own: `nox -s clients`.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.openapi import build_openapi_document
from catalog_probe.mockserver.app import create_app
from tests.harness.engines import catalog
from tests.harness.serving import serving
from tests.harness.wrong_provider import Spoil, SpoilableAnswer, WrongProvider
from tests.system.openapi.credentials import headers

schemathesis = pytest.importorskip("schemathesis", reason="not installed here (`nox -s clients` has it)")

EXAMPLES = 10
"""Requests of each operation and mode."""

PATIENCE_S = 60

pytestmark = pytest.mark.filterwarnings("ignore")  # those of its own


def departures(provider: str, base: str, mode: str, *, only: str = "") -> list[str]:
    """List what an answer of the mock has and the export lacks."""
    whole = build_openapi_document(catalog(), provider)
    found: dict[str, None] = {}
    asked = 0
    for result in schemathesis.openapi.from_dict(whole).get_all_operations():
        operation = result.ok()
        about = operation.definition.raw
        if only in operation.label and (mode == "POSITIVE" or _can_be_wrong(about)):
            url = base + (about.get("servers") or whole["servers"])[0]["url"]
            asked += 1
            found.update(dict.fromkeys(_of_operation(operation, mode, url, headers(provider, about))))
    assert asked, "nothing was asked"
    return list(found)


def _of_operation(operation: Any, mode: str, url: str, known: dict[str, str]) -> list[str]:
    from schemathesis.specs.openapi import checks

    held = [
        checks.status_code_conformance,
        checks.content_type_conformance,
        checks.response_headers_conformance,
        checks.response_schema_conformance,
    ]
    found: list[str] = []

    def ask(case: Any) -> None:
        case.headers = {}  # a key that is none is another test's
        answer = case.call(base_url=url, headers=known, timeout=PATIENCE_S)
        try:
            case.validate_response(answer, checks=held)
        except BaseExceptionGroup as group:
            found.extend(f"{operation.label}: {answer.status_code}: {_first(one)}" for one in group.exceptions)

    bounded = settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    drawn = operation.as_strategy(generation_mode=getattr(schemathesis.GenerationMode, mode))
    asked_with: Any = given(drawn)  # its types know no strategy that is untyped
    bounded(asked_with(ask))()
    return found


def _can_be_wrong(operation: dict[str, Any]) -> bool:
    """Whether there is anything in its requests that a schema could refuse."""
    return "requestBody" in operation or any(
        parameter["in"] == "query" for parameter in operation.get("parameters", ())
    )


def _first(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]


@pytest.mark.parametrize("mode", ["POSITIVE", "NEGATIVE"])
@pytest.mark.parametrize("provider", providers())
def test_the_mock_answers_as_the_export_says(provider: str, mode: str) -> None:
    with serving(create_app(only=[provider])) as base:
        assert departures(provider, base, mode) == []


def fails(answer: SpoilableAnswer) -> None:
    answer.status = 507


def says_nothing(answer: SpoilableAnswer) -> None:
    answer.edit(lambda body: body.clear())


def without_its_id(answer: SpoilableAnswer) -> None:
    answer.headers.pop("request-id", None)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [(fails, "507: Undocumented status code"), (says_nothing, "violates schema"), (without_its_id, "`request-id`")],
)
def test_answers_missing_from_the_export_are_found(spoil: Spoil, words: str) -> None:
    with serving(WrongProvider(spoil)) as base:
        assert words in " ".join(departures("pa", base, "POSITIVE", only="GET /v1/models"))
