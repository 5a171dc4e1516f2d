"""A live target that is a mock in truth: it is asked without `X-Mock-*`, with keys from the environment."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from catalog_probe.probes.plugin.embedded_mock import EmbeddedMock
from catalog_probe.probes.targets import target_file as targets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

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
class Night:
    """A target file, and the variables that it needs."""

    path: Path
    environ: Mapping[str, str]

    @property
    def target(self) -> Target:
        return targets.load(str(self.path), self.environ)


def night(
    folder: Path,
    addresses: Mapping[str, str],
    *,
    top: str = "",
    values: Mapping[str, str] | None = None,
    **settings: Any,
) -> Night:
    """A live target for these providers; `settings` go into each provider's table, those that are None do not.

    `values` are what each provider has besides.
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
    return Night(path, KEYS)


@contextmanager
def mock_process(*providers: str) -> Iterator[dict[str, str]]:
    """The base address of each provider, served by a mock process of its own."""
    mock = EmbeddedMock(providers)
    try:
        yield {name: table["base_url"] for name, table in mock.addresses().items()}
    finally:
        mock.stop()


def accept_by_another_file(path: Path) -> str:
    """A plugin for `-p`: runs read accepted differences from this file, not from the shipped one."""
    return (
        "from pathlib import Path\nfrom catalog_probe.catalog.files.provider_folders import ProviderFolder\n"
        f"ProviderFolder.accepted_differences = property(lambda folder: Path({str(path)!r}))\n"
    )
