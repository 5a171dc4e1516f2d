"""What the nightly workflow does before it probes: it removes what an earlier night left."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from tests.harness.command import CHECKOUT, child_environ


def test_clean_up_removes_what_an_earlier_night_left(tmp_path: Path) -> None:
    """The journal of a night that was killed comes from its artifact."""
    root, tools = tmp_path / "checkout", tmp_path / "tools"
    (root / ".ci").mkdir(parents=True)
    shutil.copy(CHECKOUT / ".ci" / "clean-up", root / ".ci" / "clean-up")
    tools.mkdir()
    (tools / "gh").write_text(
        "#!/bin/sh\n"
        'if [ "$2" = list ]; then echo 41; echo 42; exit; fi\n'
        f'echo "$*" >> "{tmp_path}/asked"\n'
        'test "$3 $5" = "42 night-pa" || exit 1\n'
        'mkdir -p "$7/20261120T021700Z-live-abcd" && echo "{}" > "$7/20261120T021700Z-live-abcd/made.jsonl"\n'
    )
    (tools / "python").write_text(f'#!/bin/sh\necho "$*" >> "{tmp_path}/ran"\n')
    for tool in tools.iterdir():
        tool.chmod(0o755)
    environ = child_environ({"PATH": str(tools), "GH_TOKEN": "t"})

    def clean_up() -> str:
        done = subprocess.run(
            [".ci/clean-up", "night-pa", "revision-pa"], cwd=root, env=environ, check=True, capture_output=True
        )
        return done.stdout.decode()

    clean_up()
    (ran,) = (tmp_path / "ran").read_text().splitlines()
    assert re.fullmatch(r"-m probes cleanup \S+/night-pa-42/20261120T021700Z-live-abcd --target live", ran)
    asked = (tmp_path / "asked").read_text()
    assert "run download 41 --name night-pa" in asked
    assert "run download 42 --name revision-pa" in asked
    tonight = root / "reports/out/20261121T021700Z-live-ef01"
    tonight.mkdir(parents=True)
    (tonight / "made.jsonl").write_text("{}\n")
    other = root / "reports/out/revision/20261121T023100Z-live-2026-10-21-ef02"
    other.mkdir(parents=True)
    (other / "made.jsonl").write_text("{}\n")
    clean_up()
    of_tonight = [str(each.relative_to(root)) for each in (tonight, other)]
    assert (tmp_path / "ran").read_text().splitlines()[-1].split()[3:5] == of_tonight
