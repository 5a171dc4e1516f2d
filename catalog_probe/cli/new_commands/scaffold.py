"""What a new provider or record begins with: texts that say what is still to be written, and pass no check before."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.files.provider_folders import SHIPPED, ProviderFolder
from catalog_probe.catalog.files.store import family_file
from catalog_probe.catalog.files.strict_json import read_object
from catalog_probe.catalog.reading.facts import COLUMNS
from catalog_probe.catalog.writeback.canonical_json import format_record_file, list_missing_nullable_fields

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Address, Json

TEMPLATES = Path(__file__).parent / "templates"

CHECKOUT = SHIPPED.path.parent
"""Where the package's own mock lies beside its catalog."""

_IMPORT = "from catalog_probe.probes.recipes.recipe import Family"


@dataclass(frozen=True, slots=True)
class Site:
    """Where the parts of a provider lie: in a home side by side, in a checkout of this project in its rooms."""

    home: ProviderFolder
    provider: str

    @property
    def own(self) -> bool:
        """Whether it is to be one of the providers that this project ships."""
        return self.home == SHIPPED

    @property
    def recipes(self) -> Path:
        """Where recipes begin: a module in a home, a package here."""
        package = self.home.recipes / self.provider / "__init__.py"
        return package if self.own or package.is_file() else self.home.recipes / f"{self.provider}.py"

    @property
    def facts(self) -> Path:
        return self.home.facts / f"{self.provider}.tsv"

    def recipes_of(self, address: Address) -> Path:
        """The file for a record's recipe: the module of the package that names its family, or all of its kind."""
        kind = f"{address.provider}/{address.kind}"
        modules = sorted(self.recipes.parent.glob("*.py")) if self.recipes.name == "__init__.py" else []
        for prefix in (f"{kind}/{address.family}", kind):
            for module in modules:
                if f'Family("{prefix}")' in module.read_text(encoding="utf-8"):
                    return module
        return self.recipes


def provider_files(site: Site) -> dict[Path, str]:
    """Each file of a new provider, and what it begins with."""
    name, home = site.provider, site.home
    files = {
        home.manifests / f"{name}.toml": _filled("manifest.toml", name),
        home.envelopes / f"{name}.json": _filled("envelope.json", name),
        site.facts: "\t".join(COLUMNS) + "\n",
    }
    if site.own:
        mock = CHECKOUT / "catalog_probe" / "mockserver" / name
        return files | {
            site.recipes: _filled("recipes_package.py.txt", name),
            mock / "__init__.py": f'"""Provider {name.upper()}, simulated from its documents alone."""\n',
            mock / "provider.py": _filled("mockserver.py.txt", name),
        }
    files[home.manifests / f"{name}.toml"] += _filled("mock_command.toml", name)
    return files | {
        site.recipes: _filled("recipes.py.txt", name),
        home.path / "mock" / f"{name}.py": _filled("mock.py.txt", name),
        **{home.targets / f"{each}.toml": _filled(f"target_{each}.toml", name) for each in ("mock", "live")},
    }


def record_files(site: Site, address: Address) -> dict[Path, str]:
    """Each file in which a new record leaves something, whole."""
    file = family_file(site.home.records, address)
    others = read_object(file) if file.is_file() else {}
    row = address.slug.replace("_", " ")
    recipes = site.recipes_of(address)
    return {
        file: format_record_file({**others, address.slug: _record(address, f"1:1#{row}")}, address.kind),
        site.facts: _with_line(site.facts, COLUMNS, _fact(address, row)),
        recipes: _with_row(recipes, address),
    }


def _filled(template: str, name: str) -> str:
    text = (TEMPLATES / template).read_text(encoding="utf-8")
    return Template(text).substitute(name=name, NAME=name.upper())


def _record(address: Address, source: str) -> dict[str, Json]:
    """A record with all that it must have; what no row tells of it is null."""
    title = address.slug.replace("_", " ").capitalize()
    own: dict[str, Json]
    of_all: dict[str, Json] = {"provider": address.provider.upper(), "name": title, "status": ["DOCUMENTED"]}
    match address.kind:
        case "errors":
            own = {
                "surface": manifest(address.provider).default_surface,
                "endpoints": ["TODO: the addresses of the endpoints on which it occurs"],
                "http_status": "TODO: the status, a number; null where it is no answer over HTTP",
                "message_semantics": "TODO: what it means, in the documents' words",
                "retryable": "TODO: true, false, or under which condition",
                "recommended_action": "TODO: what a client does",
                "source": source,
            }
        case "endpoints":
            own = {
                "method": "TODO: GET, POST, …",
                "path": "/TODO",
                "surface": "json",
                "response": {"status": "TODO: the status of a success, a number", "headers": {}, "fields": {}},
                "sources": [source],
            }
        case _:
            own = {
                "record_type": "rate_limits",
                "documented": {"constants": {"TODO": "TODO: the limits, by name"}},
                "sources": [source],
            }
    begun = {**of_all, **own}
    return {**begun, **dict.fromkeys(list_missing_nullable_fields(begun, address.kind))}


def _fact(address: Address, row: str) -> list[str]:
    """The row that the record cites, and its own assertions as those that look at it."""
    statement = "TODO: what the documents say, in their words; correct section and row here and in the record"
    return [f"{address.provider}-{address.family}-{address.slug}", "1:1", row, statement, "yes", "", f"{address}#*/*"]


def _with_line(file: Path, columns: tuple[str, ...], cells: list[str]) -> str:
    text = file.read_text(encoding="utf-8") if file.is_file() else "\t".join(columns) + "\n"
    return text if cells[1] == "" else text.rstrip("\n") + "\n" + "\t".join(cells) + "\n"


def _with_row(file: Path, address: Address) -> str:
    """The module with an unfinished recipe at its end."""
    text = file.read_text(encoding="utf-8") if file.is_file() else f'"""How {address.provider} is provoked."""\n'
    tree = ast.parse(text, str(file))
    if not any(isinstance(each, ast.ImportFrom) and _imports_family(each) for each in tree.body):
        text = _with_import(text, tree)
    family = f"{address.provider}/{address.kind}/{address.family}"
    return f'{text.rstrip()}\n\n{_constant(address.slug, tree)} = Family("{family}").unfinished("{address.slug}")\n'


def _imports_family(found: ast.ImportFrom) -> bool:
    return found.module == "catalog_probe.probes.recipes.recipe" and any(each.name == "Family" for each in found.names)


def _with_import(text: str, tree: ast.Module) -> str:
    lines = text.splitlines()
    imports = [each.end_lineno or 0 for each in tree.body if isinstance(each, ast.Import | ast.ImportFrom)]
    documented = tree.body[0].end_lineno or 0 if ast.get_docstring(tree) is not None else 0
    at = imports[-1] if imports else documented
    lines[at:at] = [*([] if imports and lines[at - 1] != "from __future__ import annotations" else [""]), _IMPORT]
    return "\n".join(lines) + "\n"


def _constant(slug: str, tree: ast.Module) -> str:
    """A name for the row that the module has not yet."""
    taken = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    name = re.sub(r"\W", "_", slug).upper()
    name = name if name[:1].isalpha() else f"_{name}"
    while name in taken:
        name += "_"
    return name
