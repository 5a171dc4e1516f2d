"""A recording of what clients exchanged with a provider says what probing it says, of the records that it touches."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from catalog.model import Outcome
from mockserver.app import create_app
from probes.traffic.looking import Traffic
from probes.traffic.reading import read
from probes.traffic.sources import anybody
from tests.harness.engines import catalog, mock_target_at, probe
from tests.harness.recordings import har
from tests.harness.serving import serving
from tests.harness.wrong_provider import Answer, Spoil, WrongProvider

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from catalog.evidence.results import Result


def addresses(provider: str) -> list[str]:
    return [str(each.address) for each in catalog().select(provider=provider) if each.kind != "rate_limits"]


def recorded(folder: Path, results: Iterable[Result]) -> Traffic:
    file = folder / "night.har"
    file.write_text(json.dumps(har(results)))
    return Traffic(read([file]), catalog(), [anybody()], of_target=False)


@pytest.mark.parametrize(("provider", "at_least"), [("pa", 60), ("pd", 15)])
def test_a_har_of_the_mock_gives_no_other_verdict_than_probing(provider: str, at_least: int, tmp_path: Path) -> None:
    with serving(create_app(only=[provider])) as base:
        probed = probe(mock_target_at(base), addresses(provider))
    seen = recorded(tmp_path, probed.values())
    told = {address: seen.result(address) for address in probed}
    touched = {address: each for address, each in told.items() if each.outcome is not Outcome.NOT_PROBED}
    other = {address: each.findings for address, each in touched.items() if each.outcome is not probed[address].outcome}
    assert not other
    assert len(touched) >= at_least


def no_retry_header(answer: Answer) -> None:
    if answer.status >= 400:
        answer.headers["x-should-retry"] = "maybe"


def another_type(answer: Answer) -> None:
    if answer.status == 529:
        answer.edit(lambda body: body["error"].update(type="capacity_error"))


@pytest.mark.parametrize(("spoil", "at"), [(no_retry_header, "header/x-should-retry"), (another_type, "type/type")])
def test_what_drifts_when_probed_drifts_in_its_recording(spoil: Spoil, at: str, tmp_path: Path) -> None:
    chosen = [each for each in addresses("pa") if "/errors/general/" in each]
    with serving(WrongProvider(spoil)) as base:
        probed = probe(mock_target_at(base), chosen)
    seen = recorded(tmp_path, probed.values())
    drifts = {f"{each.aspect}/{each.at}" for address in chosen for each in seen.result(address).drifts}
    assert at in {f"{each.aspect}/{each.at}" for result in probed.values() for each in result.drifts}, "when probed"
    assert at in drifts
