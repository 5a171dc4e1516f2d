"""Where the files of one provider are: side by side in a provider folder, or in this project's own folders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.files.provider_folders import SHIPPED, ProviderFolder

if TYPE_CHECKING:
    from pathlib import Path

    from catalog_probe.catalog.model import Address

CHECKOUT = SHIPPED.path.parent


@dataclass(frozen=True, slots=True)
class ProviderLayout:
    """The files of one provider."""

    folder: ProviderFolder
    provider: str

    @property
    def is_shipped(self) -> bool:
        """Whether this project ships the provider, with a mock in `catalog_probe/mockserver/`."""
        return self.folder == SHIPPED

    @property
    def recipes(self) -> Path:
        """The module or package of recipes; a new one is a package only if it is shipped."""
        package = self.folder.recipes / self.provider / "__init__.py"
        return package if self.is_shipped or package.is_file() else self.folder.recipes / f"{self.provider}.py"

    @property
    def facts(self) -> Path:
        return self.folder.facts / f"{self.provider}.tsv"

    @property
    def mock(self) -> Path:
        """The package of a shipped provider's mock."""
        return CHECKOUT / "catalog_probe" / "mockserver" / self.provider

    def recipe_module(self, address: Address, section: str) -> Path:
        """The module for a record's recipe: of its family and section if there is one, else of either."""
        modules = sorted(self.recipes.parent.glob("*.py")) if self.recipes.name == "__init__.py" else []
        kind = f"{address.provider}/{address.kind}"
        prefixes = [f'Family("{kind}/{address.family}"', f'Family("{kind}"']
        of_section = f"s{section.replace(':', '_').replace('.', '_')}_"

        def rank(module: Path) -> tuple[int, bool]:
            text = module.read_text(encoding="utf-8")
            family_rank = next((rank for rank, prefix in enumerate(prefixes) if prefix in text), len(prefixes))
            return family_rank, not module.name.startswith(of_section)

        best = min(modules, key=rank, default=self.recipes)
        return self.recipes if best in modules and rank(best) == (len(prefixes), True) else best

    def error_table(self, section: str) -> Path | None:
        """The module with the mock's error rows of a section; None if this project does not ship its mock."""
        tables = sorted(self.mock.rglob("errors.py")) if self.is_shipped else []
        return max(
            tables,
            key=lambda table: (table.read_text(encoding="utf-8").count(f'ErrorRow("{section}"'), -len(table.parts)),
            default=None,
        )
