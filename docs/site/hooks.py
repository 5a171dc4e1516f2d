"""Hooks of mkdocs: add generated pages and SECURITY.md to the site, mend links that lead out of docs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.structure.files import File

from tests.harness import record_pages, reference_pages, sample_report

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

ROOT = Path(__file__).parents[2]

PAGE_BY_SOURCE = {
    "catalog/records": "records/index.md",
    "catalog/schemas/error.json": "reference/records.md",
    "catalog/schemas/provider.json": "reference/manifests.md",
    "catalog_probe/catalog/recognition/advice.py": "reference/retries.md",
    "catalog_probe/mockserver/control.py": "reference/mock.md",
    "catalog_probe/probes/judging/inconclusive/table.py": "reference/inconclusive.md",
    "probes/targets/live.toml": "reference/variables.md",
    "probes/targets/target.schema.json": "reference/targets.md",
    "reports/example/report.html": sample_report.PAGE,
    "reports/schemas/results.json": "reference/results.md",
}
"""File of the repository -> the generated page made of it. Pages link to the file, which a forge can show."""

_OUT_OF_DOCS = re.compile(r"\[([^\]]+)\]\((?:\.\./)+([^)#]+)((?:#[^)]*)?)\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages, the published data, the page on security, and the example report."""
    for path, text in (*reference_pages.render_pages(), *record_pages.render_files()):
        files.append(File.generated(config, path, content=text))
    security = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    files.append(File.generated(config, "security.md", content=security.replace("](docs/", "](")))
    files.append(File.generated(config, sample_report.PAGE, abs_src_path=str(sample_report.EXAMPLE / "report.html")))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """A link to a file of the checkout becomes one to the page made of it, or, if there is none, the file's name."""
    if page.file.generated_by is not None:
        return markdown
    markdown = markdown.replace("](../SECURITY.md", "](security.md")
    return _OUT_OF_DOCS.sub(lambda link: _convert_link(link[1], link[2], link[3]), markdown)


def _convert_link(said: str, path: str, anchor: str) -> str:
    """Example: `Its keys` and `probes/targets/target.schema.json` -> `[Its keys](reference/targets.md)`."""
    page = PAGE_BY_SOURCE.get(path.rstrip("/"))
    if page is not None:
        return f"[{said}]({page}{anchor})"
    return f"`{path}`" if said.strip("`") in (path, Path(path).name) else f"{said} (`{path}`)"
