"""The changes that mutation testing makes to a module: operators, conditions, constants, statements, one at a time.

Left alone is what no behaviour hangs on: annotations, docstrings, the wording of errors and of formatted strings, and
that two lists of one length are said to be.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
UNSAID = (ast.JoinedStr, ast.Raise)
"""Whose strings are wording."""


@dataclass
class Change:
    """One node of a tree, and what stands there instead."""

    holder: ast.AST
    field: str
    index: int | None
    before: ast.AST
    after: ast.AST

    @property
    def line(self) -> int:
        return getattr(self.before, "lineno", 0)

    @property
    def end(self) -> int:
        return getattr(self.before, "end_lineno", self.line)

    @property
    def said(self) -> str:
        return f"{_brief(self.before)}  ->  {_brief(self.after)}"

    def make(self) -> None:
        """Make it, in the tree that it was found in."""
        if self.index is None:
            setattr(self.holder, self.field, self.after)
        else:
            getattr(self.holder, self.field)[self.index] = self.after


def changes(tree: ast.Module) -> Iterator[Change]:
    """Every change that can be made to a module, in one order."""
    yield from _below(tree, worded=False)


def _below(holder: ast.AST, *, worded: bool) -> Iterator[Change]:
    for field, value in ast.iter_fields(holder):
        if field in ("annotation", "returns", "type_params", "decorator_list", "bases"):
            continue
        for index, node in enumerate(value) if isinstance(value, list) else ((None, value),):
            if not isinstance(node, ast.AST) or _is_docstring(node) or _is_for_types(node) or _is_a_check(node):
                continue
            inside = worded or isinstance(node, UNSAID)
            if not (inside and isinstance(node, ast.Constant)):
                for after in _instead(node, holder, field):
                    yield Change(holder, field, index, node, after)
            yield from _below(node, worded=inside)


def _instead(node: ast.AST, holder: ast.AST, field: str) -> Iterator[ast.AST]:  # noqa: C901 - a table of cases
    match node:
        case ast.Compare(ops=[op, *_]) if type(op) in COMPARED:
            yield _with(node, ops=[COMPARED[type(op)](), *node.ops[1:]])
        case ast.BoolOp(op=ast.And()):
            yield _with(node, op=ast.Or())
        case ast.BoolOp(op=ast.Or()):
            yield _with(node, op=ast.And())
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.BinOp(op=op) if type(op) in COMPUTED:
            yield _with(node, op=COMPUTED[type(op)]())
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=(int() | float()) as value):
            yield ast.Constant(value + 1)
        case ast.Constant(value=str() as value) if not isinstance(holder, ast.Expr):
            yield ast.Constant(f"{value}x")
        case ast.Return(value=ast.expr() as value) if not _is_none(value):
            yield ast.Return(ast.Constant(None))
        case ast.Continue():
            yield ast.Break()
        case ast.Break():
            yield ast.Continue()
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Delete():
            yield ast.Pass()
        case ast.Raise():
            yield ast.Pass()
    if field == "test" and isinstance(node, ast.expr) and not isinstance(node, (ast.Compare, ast.UnaryOp, ast.BoolOp)):
        yield ast.UnaryOp(ast.Not(), node)
    if field == "ifs" and isinstance(node, ast.expr):
        yield ast.Constant(True)


def _with(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_for_types(node: ast.AST) -> bool:
    """Imports, type aliases and what only type checkers read."""
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        return True
    return isinstance(node, ast.Import | ast.ImportFrom | ast.arg)


def _is_a_check(node: ast.AST) -> bool:
    """`strict=True` of a `zip`, which differs only where its caller is wrong."""
    return isinstance(node, ast.keyword) and node.arg == "strict"


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _brief(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 90 else f"{text[:89]}…"
