"""The files of a new provider, from templates that say what is still to be written."""

from __future__ import annotations

from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from catalog_probe.catalog.reading.facts import COLUMNS

if TYPE_CHECKING:
    from catalog_probe.cli.new_commands.layout import ProviderLayout

TEMPLATES = Path(__file__).parent / "templates"


def provider_files(layout: ProviderLayout) -> dict[Path, str]:
    """Each file of a new provider, with its text."""
    name, folder = layout.provider, layout.folder
    files = {
        folder.manifests / f"{name}.toml": _fill_template("manifest.toml", name),
        folder.envelopes / f"{name}.json": _fill_template("envelope.json", name),
        layout.facts: "\t".join(COLUMNS) + "\n",
    }
    if layout.is_shipped:
        return files | {
            layout.recipes: _fill_template("recipes_package.py.txt", name),
            layout.mock / "__init__.py": f'"""Provider {name.upper()}, simulated from its documents alone."""\n',
            layout.mock / "provider.py": _fill_template("mockserver.py.txt", name),
        }
    files[folder.manifests / f"{name}.toml"] += _fill_template("mock_command.toml", name)
    return files | {
        layout.recipes: _fill_template("recipes.py.txt", name),
        folder.path / "mock" / f"{name}.py": _fill_template("mock.py.txt", name),
        folder.targets / "mock.toml": _fill_template("target_mock.toml", name),
        folder.targets / "live.toml": _fill_template("target_live.toml", name),
    }


def _fill_template(template: str, name: str) -> str:
    text = (TEMPLATES / template).read_text(encoding="utf-8")
    return Template(text).substitute(name=name, NAME=name.upper())
