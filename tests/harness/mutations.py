"""The changes that mutation testing makes to a module: operators, conditions, constants, statements, one at a time.

Never changed, because no behaviour depends on it: annotations and type aliases, docstrings, the wording of errors and
of formatted strings, `strict=True` of a `zip`. Nor are two kinds of change that tests of behaviour cannot see: a bound
(`MAX_…`, `…_BYTES`) that is greater by one, and None in place of an empty or false return value, which mypy finds.
"""

from __future__ import annotations

import ast
import copy
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

OTHER_COMPARISON: dict[type[ast.cmpop], type[ast.cmpop]] = {
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
OTHER_OPERATOR: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
WORDING = (ast.JoinedStr, ast.Raise)
"""Nodes whose strings are read by people only."""
BOUND = re.compile(r"_?MAX_|.*_(BYTES|CHARACTERS)$")
"""Names of bounds."""
TYPE_MAKERS = ("TypeVar", "ParamSpec")
FIELDS_OF_TYPES = ("annotation", "returns", "type_params", "decorator_list", "bases")


@dataclass
class Change:
    """One node of a tree, and its replacement."""

    scope: str
    """The function around it, as `Class.function`; the name of a constant outside of functions."""
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
    def description(self) -> str:
        return f"{_shorten(self.before)}  ->  {_shorten(self.after)}"

    def make(self) -> None:
        """Make the change in its tree."""
        if self.index is None:
            setattr(self.holder, self.field, self.after)
        else:
            getattr(self.holder, self.field)[self.index] = self.after


def changes(tree: ast.Module) -> Iterator[Change]:
    """Yield every change that can be made to a module, in a fixed order."""
    yield from _changes_below(tree, "", is_wording=False)


def _changes_below(holder: ast.AST, scope: str, *, is_wording: bool) -> Iterator[Change]:
    for field, value in ast.iter_fields(holder):
        if field in FIELDS_OF_TYPES:
            continue
        for index, node in enumerate(value) if isinstance(value, list) else ((None, value),):
            if not isinstance(node, ast.AST) or _has_no_behaviour(node):
                continue
            inner_scope = _scope_of(node, scope)
            inner_wording = is_wording or isinstance(node, WORDING)
            if not (inner_wording and isinstance(node, ast.Constant)):
                for after in _replacements(node, holder, field):
                    yield Change(inner_scope, holder, field, index, node, after)
            yield from _changes_below(node, inner_scope, is_wording=inner_wording)


def _scope_of(node: ast.AST, outer: str) -> str:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return f"{outer}.{name}".lstrip(".")
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)) if not outer:
            return name
    return outer


def _replacements(node: ast.AST, holder: ast.AST, field: str) -> Iterator[ast.AST]:  # noqa: C901 - a table of cases
    match node:
        case ast.Compare(ops=[op, *_]) if type(op) in OTHER_COMPARISON:
            yield _with(node, ops=[OTHER_COMPARISON[type(op)](), *node.ops[1:]])
        case ast.BoolOp(op=ast.And()):
            yield _with(node, op=ast.Or())
        case ast.BoolOp(op=ast.Or()):
            yield _with(node, op=ast.And())
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.BinOp(op=op) if type(op) in OTHER_OPERATOR:
            yield _with(node, op=OTHER_OPERATOR[type(op)]())
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=(int() | float()) as value):
            yield ast.Constant(value + 1)
        case ast.Constant(value=str() as value) if not isinstance(holder, ast.Expr):
            yield ast.Constant(f"{value}x")
        case ast.Return(value=ast.expr() as value) if not _is_empty(value):
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


def _has_no_behaviour(node: ast.AST) -> bool:
    match node:
        case ast.Import() | ast.ImportFrom() | ast.arg() | ast.Expr(value=ast.Constant()) | ast.keyword(arg="strict"):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Assign(value=ast.Call(func=ast.Name(id=maker))) if maker in TYPE_MAKERS:
            return True
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript()) if name[0].isupper() and not name.isupper():
            return True  # an alias of a type
        case ast.Assign(targets=[ast.Name(id=name)]) if BOUND.match(name):
            return True
    return False


def _is_empty(node: ast.expr) -> bool:
    """Whether an expression is None, false, or an empty text or collection."""
    match node:
        case ast.Constant(value=value):
            return value is None or value is False or value == ""
        case ast.Tuple(elts=[]) | ast.List(elts=[]) | ast.Dict(keys=[]):
            return True
    return False


def _shorten(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 90 else f"{text[:89]}…"
