"""litellm's proxy as a gateway before the mock: the matrix shows where it answers in its own words.

litellm pins what other tests want newer, so it has an environment of its own: `nox -s gateway`.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from catalog.model import Outcome
from catalog.model.standpoint import StandsFor
from probes.target import target as targets
from reports.across.comparison import Comparison
from tests.harness.command import child_environ
from tests.harness.engines import probe
from tests.harness.instances import Told, run_of

if TYPE_CHECKING:
    from probes.suite.embedded_mock import EmbeddedMock

if not all(map(find_spec, ("litellm", "backoff"))):
    pytest.skip("litellm's proxy is not installed here (`nox -s gateway` has it)", allow_module_level=True)

RUNNING = re.compile(r"(?<=Uvicorn running on )http://\S+")
MASTER, OWN = "sk-a-key-of-the-gateway", "mock-pc-inference"
WRONG_KEY, UNKNOWN_FIELD = "pc/errors/authentication/invalid_api_key", "pc/errors/request/unknown_parameter"
MODELS, RESPONSES = "pc/endpoints/models/list_models", "pc/endpoints/responses/create_response"
ADDRESSES = [WRONG_KEY, UNKNOWN_FIELD, MODELS, RESPONSES]

CONFIG = """\
model_list:
  - model_name: mock-small
    litellm_params: {{model: openai/mock-small, api_base: "{base}/v1", api_key: {key}}}
litellm_settings: {{num_retries: 0, telemetry: false}}
general_settings: {{master_key: {master}}}
"""
TARGET = """\
name = "{name}"
stands_for = "{name}"
allow = ["free", "billable"]
reprobe_after_s = 0
[providers.pc]
base_url = "{base}"
credentials = {{ inference = "env:PC_API_KEY" }}
values = {{ small_model = "mock-small" }}
"""


@contextmanager
def gateway(to: str, folder: Path) -> Iterator[str]:
    """The base address of a proxy before a provider's, while the block lasts."""
    config = folder / "config.yaml"
    config.write_text(CONFIG.format(base=to, key=OWN, master=MASTER), encoding="utf-8")
    litellm = str(Path(sys.executable).with_name("litellm"))
    command = [litellm, "--config", str(config), "--host", "127.0.0.1", "--port", "0"]
    environ = child_environ({"LITELLM_LOCAL_MODEL_COST_MAP": "True"})  # else it asks the outside for prices
    with subprocess.Popen(
        command, env=environ, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as child:
        assert child.stdout is not None
        try:
            said: list[str] = []
            for line in child.stdout:
                said.append(line)
                if RUNNING.search(line):
                    break
            running = RUNNING.search("".join(said))
            assert running is not None, said
            yield running[0]
        finally:
            child.terminate()
            child.communicate()


def looked(folder: Path, stands_for: StandsFor, base: str, key: str) -> Told:
    """What a run saw of a provider, or of what stands before it."""
    file = folder / f"{stands_for}.toml"
    file.write_text(TARGET.format(name=stands_for, base=base), encoding="utf-8")
    found = probe(targets.load(str(file), {"PC_API_KEY": key}), ADDRESSES)
    return run_of(str(stands_for), found, live=True, stands_for=stands_for)


@pytest.fixture(scope="module")
def beside(mock: EmbeddedMock, tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    folder = tmp_path_factory.mktemp("gateway")
    base = mock.addresses()["pc"]["base_url"]
    with gateway(base, folder) as proxied:
        return Comparison(
            [looked(folder, StandsFor.PROVIDER, base, OWN), looked(folder, StandsFor.GATEWAY, proxied, MASTER)]
        )


def test_the_provider_conforms_and_the_gateway_does_not(beside: Comparison) -> None:
    assert {str(row.address) for row in beside.found("all(conforms for:provider)")} == set()
    assert {str(row.address) for row in beside.found("any(conforms for:provider)")} == set(ADDRESSES)
    odd = {str(row.address) for row in beside.found("seq(conforms drifted) any(drifted for:gateway)")}
    assert {WRONG_KEY, UNKNOWN_FIELD, MODELS} <= odd


def test_the_matrix_shows_where_its_envelope_differs(beside: Comparison) -> None:
    (row,) = beside.found(f"code:invalid_api_key {WRONG_KEY}")
    differing = [key for key, sides in row.assertions.items() if sides[1] is not None and sides[1].otherwise]
    assert "answer/code" in differing, "it has a code of its own"
    assert all(sides[0] is not None and not sides[0].otherwise for sides in row.assertions.values())


def test_what_passes_through_is_as_documented(beside: Comparison) -> None:
    """A success of the provider's is still one: the share of its own endpoint is neither all nor nothing."""
    row = next(row for row in beside.rows if str(row.address) == MODELS)
    gateway = row.cells[1]
    assert gateway is not None
    assert gateway.of("success/body") is not None
    assert gateway.result.outcome is Outcome.DRIFTED
    assert 0 < gateway.share.as_documented < gateway.share.looked_at
