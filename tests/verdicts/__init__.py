"""Hold the judge and the mock of this tree to what a frozen commit detected.

`table.tsv` lists, for each mutant, fault and recorded answer, the verdicts of the frozen commit. The tool serves the
old mock from a worktree of that commit, probes it with the judge of this tree, and compares. It also replays recorded
requests against both mocks. Each difference needs a line in `explained.tsv`. Run it by `nox -s verdicts`.
"""
