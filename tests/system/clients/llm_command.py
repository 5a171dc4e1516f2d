"""The `llm` command; each call is a process with a settings folder of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.system.clients.client import Client, Forecast, Where, failed

DEADLINE_S = 60
TOOL = 'def get_weather(city: str) -> str:\n    "The weather of a city."\n    return "sunny"\n'


def run(where: Where, text: str, *options: str) -> tuple[str, str]:
    """What it prints, and what it says beside; a failure is raised under the status that it tells of."""
    with tempfile.TemporaryDirectory() as folder:
        model = {"model_id": "mock", "model_name": where.model, "api_base": where.url, "api_key_name": "mock"}
        settings = [{**model, "supports_tools": True, "supports_schema": True}]
        Path(folder, "extra-openai-models.yaml").write_text(json.dumps(settings), encoding="utf-8")  # JSON is YAML
        done = subprocess.run(
            [sys.executable, "-m", "llm", "-m", "mock", "--key", where.key, "--no-log", *options],
            input=text,
            env={**os.environ, "LLM_USER_PATH": folder},
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )
    if done.returncode:
        raise failed(done.stderr)
    return done.stdout.strip(), done.stderr


def _tool(where: Where) -> str:
    _, beside = run(where, "use get_weather", "--functions", TOOL, "--tools-debug")
    return "get_weather" if "get_weather" in beside else beside


LLM = {
    "llm": Client(
        "llm",
        "pc",
        "/v1",
        chat=lambda where, text: run(where, text, "--no-stream")[0],
        stream=lambda where, text: run(where, text)[0],
        tool=_tool,
        structured=lambda where: Forecast.model_validate_json(run(where, "Hello", "--schema", "city str, days int")[0]),
        bad_key="401",
        unknown_model="404",
        overloaded=("503", 3),
        broken="The server had an error",
        too_long="400",
    )
}
