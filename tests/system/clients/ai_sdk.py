"""The Vercel AI SDK for Node; each call is a process (`node/ask.mjs`).

`AI_SDK` names the folder in which `npm install` was run with `node/package.json`; without it, it is not there.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.system.clients.client import MODEL, Client, Endpoint, Forecast, make_failure

if TYPE_CHECKING:
    from collections.abc import Mapping

ASK = Path(__file__).parent / "node" / "ask.mjs"
DEADLINE_S = 60


def is_there() -> bool:
    """Whether Node and the packages are installed."""
    return shutil.which("node") is not None and (_folder() / "node_modules" / "ai").is_dir()


def ask(provider: str, call: str, endpoint: Endpoint, text: str) -> Any:
    """Return the result of a call; an error is raised here under the same class names."""
    script = _folder() / ASK.name
    shutil.copyfile(ASK, script)  # Node looks for packages beside the script
    request = {
        "of": provider,
        "call": call,
        "url": endpoint.url,
        "key": endpoint.key,
        "model": endpoint.model,
        "text": text,
    }
    done = subprocess.run(
        ["node", str(script)], input=json.dumps(request), capture_output=True, text=True, timeout=DEADLINE_S, check=True
    )
    answer = json.loads(done.stdout.splitlines()[-1])
    if "raised" in answer:
        raise make_failure(" ".join(answer["raised"]))
    return answer["said"]


def _folder() -> Path:
    return Path(os.environ.get("AI_SDK", os.devnull))


def _calls(provider: str) -> Mapping[str, Any]:
    return {
        "chat": partial(ask, provider, "chat"),
        "stream": partial(ask, provider, "stream"),
        "tool": lambda endpoint: ask(provider, "tool", endpoint, "use get_weather"),
        "structured": lambda endpoint: Forecast.model_validate(ask(provider, "structured", endpoint, "Hello")),
    }


def _client(provider: str, path: str, bad_key: int, overloaded: int, model: str = MODEL) -> Client:
    return Client(
        "the Vercel AI SDK",
        provider,
        path,
        **_calls(provider),
        bad_key=f"AI_APICallError {bad_key}",
        unknown_model="AI_APICallError 404",
        overloaded=(f"AI_APICallError {overloaded}", 2),
        broken="Failed",
        too_long="AI_APICallError 400",
        model=model,
        is_there=is_there,
    )


AI_SDK: Mapping[str, Client] = {
    "ai sdk at pa": _client("pa", "/v1", 401, 529),
    "ai sdk at pb": _client("pb", "/v1beta", 400, 503, "mock-lite"),
    "ai sdk at pc": _client("pc", "/v1", 401, 503),
}
