"""Move the modules of one package into catalog_probe, and rewrite what names them; removed after the last move.

usage: python .ci/move_modules.py PACKAGE      mockserver, catalog, reports or probes

The plan, `.ci/move_plan.tsv`, has a line for each module: its name before and after. Rewritten are import statements,
the names that they bind, dotted names in texts, and paths. Run `ruff check --fix` and `ruff format` afterwards.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
SKIPPED = (
    *("tests/verdicts/old_side.py", "tests/verdicts/table.tsv", "tests/verdicts/explained.tsv", "CHANGELOG.md"),
    *("catalog/records/", "catalog/facts/", "docs/images/", "tests/recorded/", ".ci/move_"),
)


@dataclass(frozen=True)
class Plan:
    """Where the modules and files of one package go."""

    package: str
    modules: dict[str, str]
    files: dict[str, str]

    @property
    def folders(self) -> dict[str, str]:
        """Folders of packages, with where their `__init__.py` goes."""
        pairs = {Path(old).parent: Path(new).parent for old, new in self.files.items() if old.endswith("__init__.py")}
        return {str(old): str(new) for old, new in pairs.items() if "/" in str(old) or self.package == "mockserver"}

    def rename(self, dotted: str) -> str:
        """Return the new name of a module, or of what it defines; a name that is no module's as it is."""
        parts = dotted.split(".")
        for count in range(len(parts), 1, -1):
            module = ".".join(parts[:count])
            if module in self.modules:
                return ".".join([self.modules[module], *parts[count:]])
        return dotted


def git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def read_plan(package: str, tracked: list[str]) -> Plan:
    modules, files = {}, {}
    for line in (ROOT / ".ci" / "move_plan.tsv").read_text("utf-8").splitlines():
        old, new = line.split("\t")
        if "/" in old:
            if old.startswith(f"{package}/"):
                files[old] = new
        elif f"{old}.".startswith(f"{package}."):
            modules[old] = new
            folder, target = old.replace(".", "/"), new.replace(".", "/")
            is_package = f"{folder}/__init__.py" in tracked
            ending = "/__init__.py" if is_package else ".py"
            files[folder + ending] = target + ending
    return Plan(package, modules, files)


def rewrite_text(text: str, path: str, plan: Plan) -> str:
    """Rewrite dotted names and paths, wherever they stand."""
    if plan.package == "mockserver":
        if not path.startswith("tests/"):
            text = text.replace("python -m mockserver", "catalog-probe mock")
        text = re.sub(r'(-m |"-m", ")mockserver\b', r"\1catalog_probe.mockserver", text)
    dotted = re.compile(rf"(?<![\w/.@-])({plan.package}(?:\.(?!py\b)\w+)+)")
    text = dotted.sub(lambda match: plan.rename(match[1]), text)
    for pairs, ending in ((plan.files, r"(?!\w)"), (plan.folders, r"(?=/(?![\w-]*\.\w)|\"|')")):
        if not pairs:
            continue
        names = "|".join(map(re.escape, sorted(pairs, key=len, reverse=True)))
        text = re.sub(rf"(?<![\w/.-])({names}){ending}", lambda match, pairs=pairs: pairs[match[1]], text)
    return text


def rewrite_python(text: str, path: str, plan: Plan) -> str:
    """Rewrite the import statements of a module, and the names that they bind."""
    tree = ast.parse(text)
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    taken = {node.id for node in names} | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    bound = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    renamed: dict[str, str] = {}
    edits: list[tuple[ast.stmt | ast.expr, str]] = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or node.level or f"{node.module}.".find(f"{plan.package}.") != 0:
            continue
        by_module = defaultdict(list)
        for alias in node.names:
            full = f"{node.module}.{alias.name}"
            module, name = plan.modules[full].rsplit(".", 1) if full in plan.modules else ("", "")
            if not module:
                by_module[plan.modules.get(str(node.module), node.module)].append((alias.name, alias.asname))
            elif alias.asname or name == alias.name or alias.name in bound or name in taken:
                asname = alias.asname or (alias.name if name != alias.name else None)
                by_module[module].append((name, asname))
            else:
                renamed[alias.name] = name
                by_module[module].append((name, None))
        lines = [
            f"from {module} import ({', '.join(f'{name} as {asname}' if asname else name for name, asname in group)})"
            for module, group in by_module.items()
        ]
        edits.append((node, ("\n" + " " * node.col_offset).join(lines)))
    edits += [(node, renamed[node.id]) for node in names if node.id in renamed]
    rows = [line.encode() for line in text.split("\n")]
    for node, replacement in sorted(edits, key=lambda edit: (edit[0].lineno, edit[0].col_offset), reverse=True):
        assert node.end_lineno is not None
        start, end = rows[node.lineno - 1][: node.col_offset], rows[node.end_lineno - 1][node.end_col_offset :]
        rows[node.lineno - 1 : node.end_lineno] = (start + replacement.encode() + end).split(b"\n")
    return rewrite_text(b"\n".join(rows).decode(), path, plan)


def main(package: str) -> None:
    tracked = git("ls-files").splitlines()
    plan = read_plan(package, tracked)
    for path in tracked:
        file = ROOT / path
        if path.startswith(SKIPPED) or file.is_symlink():
            continue
        try:
            text = file.read_text("utf-8")
        except UnicodeDecodeError:
            continue
        rewrite = rewrite_python if path.endswith(".py") else rewrite_text
        file.write_text(rewrite(text, path, plan), "utf-8")
    for old, new in plan.files.items():
        (ROOT / new).parent.mkdir(parents=True, exist_ok=True)
        git("mv", old, new)


if __name__ == "__main__":
    main(sys.argv[1])
