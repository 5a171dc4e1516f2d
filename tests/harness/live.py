"""A live target whose provider is a mock: probed without `X-Mock-*`, with keys from the environment."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.files.provider_folders import ProviderFolder
from catalog_probe.probes.plugin.embedded_mock import EmbeddedMock
from catalog_probe.probes.targets import target_file as targets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import pytest

    from catalog_probe.probes.targets.target import Target

KEYS = {"PA_API_KEY": "mock-pa-inference", "PD_API_KEY": "mock-pd-inference"}
VALUES = {
    "pa": {"small_model": "mock-small"},
    "pd": {"small_model": "mock-small"},
}
HEADERS = {
    "pa": 'key_header = "x-api-key"\nheaders = { "pa-version" = "2023-06-01" }',
    "pd": 'key_header = "authorization"\nkey_scheme = "Bearer"',
}


@dataclass(frozen=True)
class LiveTarget:
    """A target file, and the environment variables that it needs."""

    path: Path
    environ: Mapping[str, str]

    @property
    def target(self) -> Target:
        return targets.load(str(self.path), self.environ)


def write_live_target(
    folder: Path,
    addresses: Mapping[str, str],
    *,
    top: str = "",
    values: Mapping[str, str] | None = None,
    **settings: Any,
) -> LiveTarget:
    """Write the target file of these providers.

    `top` is TOML for the top of the file. `settings` go into each provider's table; None leaves one out. `values` go
    into each provider's table of values.
    """
    lines = ['name = "night"', "live = true", "reprobe_after_s = 0", top]
    for name, address in addresses.items():
        lines += [f"[providers.{name}]", f'base_url = "{address}"', HEADERS[name]]
        table = {"expected": True, **settings}
        lines += [f"{key} = {json.dumps(value)}" for key, value in table.items() if value is not None]
        lines += [f"[providers.{name}.credentials]", f'inference = "env:{name.upper()}_API_KEY"']
        lines += [
            f"[providers.{name}.values]",
            *(f'{key} = "{value}"' for key, value in {**VALUES[name], **(values or {})}.items()),
        ]
    path = folder / "night.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    return LiveTarget(path, KEYS)


@contextmanager
def mock_process(*providers: str) -> Iterator[dict[str, str]]:
    """Start a mock process and yield the base address of each provider."""
    mock = EmbeddedMock(providers)
    try:
        yield {name: table["base_url"] for name, table in mock.addresses().items()}
    finally:
        mock.stop()


def use_accepted_differences(file: Path, patch: pytest.MonkeyPatch) -> None:
    """Let runs in this process read accepted differences from this file."""
    patch.setattr(ProviderFolder, "accepted_differences", property(lambda _: file))
