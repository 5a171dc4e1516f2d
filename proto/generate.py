"""Makes the Python of `pd.proto` for the mock and for the probes, each a copy of its own: neither imports the other.

`python proto/generate.py` writes both; with `--check` it writes nothing, and fails where a committed file is stale.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
FOLDERS = (
    HERE.parent / "catalog_probe/mockserver/pd/generated",
    HERE.parent / "catalog_probe/probes/wire/generated",
)


def generated() -> dict[str, str]:
    """The text of each generated file by name."""
    from grpc_tools import protoc

    well_known = Path(protoc.__file__).parent / "_proto"
    with tempfile.TemporaryDirectory() as folder:
        arguments = [f"-I{HERE}", f"-I{well_known}", f"--python_out={folder}", f"--pyi_out={folder}", "pd.proto"]
        if protoc.main(["protoc", *arguments]) != 0:
            raise SystemExit("protoc failed: its words are above")
        return {path.name: path.read_text() for path in Path(folder).iterdir()}


def main(arguments: list[str]) -> int:
    """0 where all is current, or was written; 1 where `--check` finds a stale file."""
    texts = generated()
    stale = [
        folder / name
        for folder in FOLDERS
        for name, text in texts.items()
        if not (folder / name).is_file() or (folder / name).read_text() != text
    ]
    for path in stale:
        if "--check" in arguments:
            print(f"{path.relative_to(HERE.parent)} is stale; run python proto/generate.py", file=sys.stderr)
        else:
            path.write_text(texts[path.name])
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
