"""The `llm` command; each call is a process with a settings folder of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.system.clients.client import Client, Endpoint, Forecast, make_failure

DEADLINE_S = 60
TOOL = 'def get_weather(city: str) -> str:\n    "The weather of a city."\n    return "sunny"\n'


def run(endpoint: Endpoint, text: str, *options: str) -> tuple[str, str]:
    """Return stdout and stderr of a call; raise a failure named by the status in stderr."""
    with tempfile.TemporaryDirectory() as folder:
        model = {"model_id": "mock", "model_name": endpoint.model, "api_base": endpoint.url, "api_key_name": "mock"}
        settings = [{**model, "supports_tools": True, "supports_schema": True}]
        Path(folder, "extra-openai-models.yaml").write_text(json.dumps(settings), encoding="utf-8")  # JSON is YAML
        done = subprocess.run(
            [sys.executable, "-m", "llm", "-m", "mock", "--key", endpoint.key, "--no-log", *options],
            input=text,
            env={**os.environ, "LLM_USER_PATH": folder},
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )
    if done.returncode:
        raise make_failure(done.stderr)
    return done.stdout.strip(), done.stderr


def _tool(endpoint: Endpoint) -> str:
    _, errors = run(endpoint, "use get_weather", "--functions", TOOL, "--tools-debug")
    return "get_weather" if "get_weather" in errors else errors


LLM = {
    "llm": Client(
        "llm",
        "pc",
        "/v1",
        chat=lambda endpoint, text: run(endpoint, text, "--no-stream")[0],
        stream=lambda endpoint, text: run(endpoint, text)[0],
        tool=_tool,
        structured=lambda endpoint: Forecast.model_validate_json(
            run(endpoint, "Hello", "--schema", "city str, days int")[0]
        ),
        bad_key="401",
        unknown_model="404",
        overloaded=("503", 3),
        broken="The server had an error",
        too_long="400",
    )
}
