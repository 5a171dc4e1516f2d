"""What litellm's proxy does: `report diff` and docs/compatible.md show in what it differs from the mock behind it.

litellm pins what other tests want newer, so it has an environment of its own: `nox -s clients`.
"""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from contextlib import contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.errors import Exit
from catalog_probe.catalog.model.exchange import AnsweredBy
from catalog_probe.probes.targets import target_file as targets
from catalog_probe.reports.comparison import MATCHED, compare_assertions, compare_outcomes
from tests.harness.command import CHECKOUT, child_environ, pytest_probes
from tests.harness.engines import probe
from tests.harness.instances import RunResults, make_run
from tests.harness.walking import find_free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.probes.plugin.embedded_mock import EmbeddedMock

if not all(map(find_spec, ("litellm", "backoff"))):
    pytest.skip("litellm's proxy is not installed here (`nox -s clients` has it)", allow_module_level=True)

RUNNING = re.compile(r"(?<=Uvicorn running on )http://\S+")
GATEWAY_KEY, PROVIDER_KEY = "sk-a-key-of-the-gateway", "mock-pc-inference"
INVALID_KEY, UNKNOWN_FIELD = "pc/errors/authentication/invalid_api_key", "pc/errors/request/unknown_parameter"
MODELS, RESPONSES = "pc/endpoints/models/list_models", "pc/endpoints/responses/create_response"
ADDRESSES = [INVALID_KEY, UNKNOWN_FIELD, MODELS, RESPONSES]

CONFIG = """\
model_list:
  - model_name: mock-small
    litellm_params: {{model: {model}, api_base: "{base}", api_key: {key}}}
litellm_settings: {{num_retries: 0, telemetry: false}}
general_settings: {{master_key: {master}}}
"""
TARGET = """\
name = "{name}"
answered_by = "{name}"
allow = ["free", "billable"]
reprobe_after_s = 0
[providers.pc]
base_url = "{base}"
credentials = {{ inference = "env:PC_API_KEY" }}
values = {{ small_model = "mock-small" }}
"""


@contextmanager
def gateway(to: str, folder: Path, model: str = "openai/mock-small", key: str = PROVIDER_KEY) -> Iterator[str]:
    """The base address of a proxy before a provider's, while the block lasts."""
    config = folder / "config.yaml"
    config.write_text(CONFIG.format(base=to, model=model, key=key, master=GATEWAY_KEY), encoding="utf-8")
    litellm = str(Path(sys.executable).with_name("litellm"))
    command = [litellm, "--config", str(config), "--host", "127.0.0.1", "--port", "0"]
    environ = child_environ({"LITELLM_LOCAL_MODEL_COST_MAP": "True"})  # else it asks the outside for prices
    with subprocess.Popen(
        command, env=environ, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as child:
        assert child.stdout is not None
        try:
            output: list[str] = []
            for line in child.stdout:
                output.append(line)
                if RUNNING.search(line):
                    break
            running = RUNNING.search("".join(output))
            assert running is not None, output
            # A full pipe that nobody reads would stop the proxy.
            threading.Thread(target=child.stdout.read, daemon=True).start()
            yield running[0]
        finally:
            child.terminate()
            child.wait()


def probe_at(folder: Path, answered_by: AnsweredBy, base: str, key: str) -> RunResults:
    """Probe a provider, or the gateway before it."""
    file = folder / f"{answered_by}.toml"
    file.write_text(TARGET.format(name=answered_by, base=base), encoding="utf-8")
    results = probe(targets.load(str(file), {"PC_API_KEY": key}), ADDRESSES)
    return make_run(str(answered_by), results, live=True, answered_by=answered_by)


Results = tuple[list["Result"], list["Result"]]


@pytest.fixture(scope="module")
def results(mock: EmbeddedMock, tmp_path_factory: pytest.TempPathFactory) -> Results:
    """The results of a run against the provider, and of one against the gateway."""
    folder = tmp_path_factory.mktemp("gateway")
    base = mock.addresses()["pc"]["base_url"]
    with gateway(f"{base}/v1", folder) as proxied:
        provider = probe_at(folder, AnsweredBy.PROVIDER, base, PROVIDER_KEY)
        return provider[1], probe_at(folder, AnsweredBy.GATEWAY, proxied, GATEWAY_KEY)[1]


def test_the_provider_conforms_and_the_gateway_does_not(results: Results) -> None:
    provider, proxied = results
    assert {result.outcome for result in provider} == {Outcome.CONFORMS}
    drifted = {new.record for _, new in compare_outcomes(provider, proxied) if new.outcome is Outcome.DRIFTED}
    assert {INVALID_KEY, UNKNOWN_FIELD, MODELS} <= drifted


def test_diff_names_the_assertions_in_which_the_gateway_differs(results: Results) -> None:
    changes = compare_assertions(*results)
    assert f"{INVALID_KEY}#answer/code" in {change.assertion for change in changes}, "it has a code of its own"
    assert {change.before for change in changes} == {MATCHED}


def test_answers_that_the_gateway_passes_through_conform(results: Results) -> None:
    """A success of the provider's is still one: some of its endpoint's assertions hold, and some do not."""
    (models,) = (result for result in results[1] if result.record == MODELS)
    assert any("status" in observation.matched for observation in models.observations if observation.label == "success")
    assert any(observation.mismatched for observation in models.observations)


@pytest.mark.parametrize(("provider", "path", "model"), [("pa", "", "anthropic"), ("pc", "/v1", "openai")])
def test_the_page_has_the_tables_that_the_command_makes(
    provider: str, path: str, model: str, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """If one differs, copy the tables of the run's summary.md into docs/compatible.md, with their date."""
    port, name = find_free_port(), provider.upper()
    upstream, key = f"http://127.0.0.1:{port}/{provider}{path}", f"mock-{provider}-inference"
    options = ["--target", "compatible", "--upstream", str(port), "--provider", provider]
    with gateway(upstream, tmp_path, f"{model}/mock-small", key) as proxied:
        environ = {f"{name}_BASE_URL": proxied, f"{name}_API_KEY": GATEWAY_KEY}
        done = pytest_probes(tmp_path / "out", *options, environ=environ)
    assert done.status == Exit.DRIFT, done.all_output
    page = (CHECKOUT / "docs" / "compatible.md").read_text(encoding="utf-8")
    assert f"LiteLLM's proxy {version('litellm')}" in page
    before_details, _, _ = (done.folder / "summary.md").read_text(encoding="utf-8").partition("<details>")
    tables = re.findall(r"(?:^\|.*\n)+", before_details, re.MULTILINE)
    assert len(tables) == 2
    for table in tables:
        with subtests.test(table=table.splitlines()[0]):
            assert table in page
