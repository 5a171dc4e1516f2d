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

_OUT_OF_DOCS = re.compile(r"\[([^\]]+)\]\((?:\.\./)+([^)#]+)(?:#[^)]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages, the published data, the page on security, and the example report."""
    for path, text in (*reference_pages.render_pages(), *record_pages.render_files()):
        files.append(File.generated(config, path, content=text))
    security = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    files.append(File.generated(config, "security.md", content=security.replace("](docs/", "](")))
    files.append(File.generated(config, sample_report.PAGE, abs_src_path=str(sample_report.EXAMPLE / "report.html")))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """A link to a file of the checkout, which is no part of the site, becomes the file's name."""
    if page.file.generated_by is not None:
        return markdown
    markdown = markdown.replace("](../SECURITY.md", "](security.md")
    return _OUT_OF_DOCS.sub(lambda link: _named(link[1], link[2]), markdown)


def _named(said: str, path: str) -> str:
    return f"`{path}`" if said.strip("`") in (path, Path(path).name) else f"{said} (`{path}`)"
