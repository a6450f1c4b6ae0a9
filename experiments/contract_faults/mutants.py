"""All single faults that can be planted in the functions of a program, on lines that its run reaches."""

import ast
import copy
import importlib
import inspect
import sys
import typing
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from types import FrameType
from typing import Any, NamedTuple

from contracts.hints import array_hints
from experiments.contract_faults.damage import Leaf, leaves
from experiments.contract_faults.regimes import MODULES, source_of
from experiments.contract_faults.rewrites import rewrites


class Mutant(NamedTuple):
    """A function with one fault in it."""

    program: str
    module: str
    qualname: str
    line: int
    column: int
    fault: str
    """the class of the fault"""
    what: str
    """the change, in a line; no two faults at one place say the same"""
    inside: bool
    """an expression of the function; otherwise an array on its way into or out of it"""
    definition: ast.FunctionDef | None

    @property
    def where(self) -> tuple[str, str, ast.FunctionDef]:
        """What `Copies.planted` takes."""
        assert self.definition is not None
        return self.module, self.qualname, self.definition

    @property
    def place(self) -> str:
        """`attention.py:43:15 Attention.heads`, with the column as editors count it."""
        return f"{self.module.rsplit('.', 1)[-1]}.py:{self.line}:{self.column} {self.qualname}"

    @property
    def name(self) -> tuple[str, str, str]:
        """What tells it from all others of its program."""
        return self.place, self.fault, self.what

    @property
    def crosses_no_array(self) -> bool:
        """Whether the function neither takes nor returns an array, so that no contract stands there."""
        return not any(any(array_hints(hint)) for hint in hints_of(self.module, self.qualname).values())

    @property
    def builds_a_model(self) -> bool:
        """Whether the function runs when a model is made, not when it is called."""
        return self.qualname.endswith("__init__") or self.module.endswith(".layers")


Lines = Mapping[str, frozenset[int]]
"""file name to the lines that ran"""


def lines_run_by(action: Callable[[], Any]) -> Lines:
    """The lines of the copied modules that `action` runs."""
    files = {source_of(module)[0] for module in MODULES}
    ran: dict[str, set[int]] = {file: set() for file in files}

    def tracer(frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename not in files:
            return None
        ran[frame.f_code.co_filename].add(frame.f_lineno)
        return tracer

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        action()
    finally:
        sys.settrace(before)
    return {file: frozenset(lines) for file, lines in ran.items()}


def mutants(program: str, modules: tuple[str, ...], ran: Lines) -> list[Mutant]:
    """Every fault in the functions of `modules`, each once."""
    found: dict[str, Mutant] = {}
    for module in modules:
        file, tree = source_of(module)
        for qualname, definition in _functions(tree):
            original = ast.dump(definition)
            for statement in _statements(definition, ran[file]):
                for node, fault, what, replacement in _faults(module, qualname, statement):
                    changed = _replaced(definition, node, replacement)
                    if ast.dump(changed) != original:
                        at: Any = node if hasattr(node, "lineno") else statement
                        inside = not isinstance(replacement, ast.Call) or _called(replacement) != "damaged"
                        place = (program, module, qualname, at.lineno, at.col_offset + 1)
                        mutant = Mutant(*place, fault, what, inside, changed)
                        found.setdefault(f"{module} {ast.dump(changed)}", mutant)
    return list(_told_apart(found.values()))


def _told_apart(found: Iterable[Mutant]) -> Iterator[Mutant]:
    """With a number where a change, cut to one line, reads as another at the same place does."""
    told = Counter[tuple[str, str, str]]()
    for mutant in found:
        told[mutant.name] += 1
        number = told[mutant.name]
        yield mutant if number == 1 else mutant._replace(what=f"{mutant.what} ({number})")


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, ast.FunctionDef):
                    yield f"{node.name}.{member.name}", member


def _statements(definition: ast.FunctionDef, ran: frozenset[int]) -> Iterator[ast.stmt]:
    """The simple statements of a function that ran; of a compound one, those inside."""
    for node in ast.walk(definition):
        if not isinstance(node, ast.stmt) or isinstance(node, ast.FunctionDef) or _is_docstring(node):
            continue
        last = node.body[0].lineno - 1 if hasattr(node, "body") else node.end_lineno or node.lineno
        if ran & frozenset(range(node.lineno, max(last, node.lineno) + 1)):
            yield node


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _faults(module: str, qualname: str, statement: ast.stmt) -> Iterator[tuple[ast.AST, str, str, ast.AST]]:
    """(node, class, change in words, what takes its place)"""
    for node in _own_nodes(statement):
        for fault, replacement in rewrites(node):
            yield node, fault, f"{_short(node)} -> {_short(replacement)}", replacement
        if isinstance(node, ast.Return) and node.value is not None:
            hint = hints_of(module, qualname).get("return")
            yield from _damaged(node.value, "result", hint)
        if isinstance(node, ast.Call):
            parameters = _known_functions().get(_called(node), ())
            for (name, hint), argument in zip(parameters, node.args, strict=False):
                yield from _damaged(argument, f"{_called(node)}({name})", hint)


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """A statement and its expressions, without the statements inside it and without what only a checker calls."""
    yield node
    for child in ast.iter_child_nodes(node):
        is_checker = isinstance(child, ast.Call) and _called(child) in ("conforms", "through")
        if not isinstance(child, ast.stmt) and not is_checker:
            yield from _own_nodes(child)


def _damaged(node: ast.expr, name: str, hint: Any) -> Iterator[tuple[ast.AST, str, str, ast.AST]]:
    for leaf in leaves(hint):
        for damage in leaf.damages(of_argument=name != "result"):
            fault = "bad leaf in a container" if leaf.in_container else damage.fault
            yield node, fault, f"{name}{leaf.spelled()} {damage.what}", _damaging(node, leaf, damage.what)


def _damaging(node: ast.expr, leaf: Leaf, what: str) -> ast.expr:
    call = ast.parse(f"damaged(0, {leaf.path!r}, {what!r})", mode="eval").body
    assert isinstance(call, ast.Call)
    call.args[0] = node
    return call


@cache
def _known_functions() -> dict[str, tuple[tuple[str, Any], ...]]:
    """Name of each function or method under contract to its parameters and their hints."""
    found = {}
    for module in MODULES:
        for qualname, _ in _functions(source_of(module)[1]):
            hints = [(name, hint) for name, hint in hints_of(module, qualname).items() if name != "return"]
            name = qualname.rpartition(".")[2]
            if not name.startswith("_") and any(any(leaves(hint)) for _, hint in hints):
                found[name] = tuple(hints)
    return found


@cache
def hints_of(module: str, qualname: str) -> dict[str, Any]:
    """The annotations of a function, as it stands in the project."""
    function: Any = importlib.import_module(module)
    for name in qualname.split("."):
        function = getattr(function, name)
    return typing.get_type_hints(inspect.unwrap(function))


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _replaced(definition: ast.FunctionDef, node: ast.AST, replacement: ast.AST) -> ast.FunctionDef:
    memo: dict[int, Any] = {}
    changed = copy.deepcopy(definition, memo)
    target = memo[id(node)]
    for parent in ast.walk(changed):
        for field, value in ast.iter_fields(parent):
            if value is target:
                setattr(parent, field, replacement)
                return changed
            if isinstance(value, list) and any(item is target for item in value):
                value[[item is target for item in value].index(True)] = replacement
                return changed
    raise AssertionError("the node is not part of the function")


def _short(node: ast.AST, most: int = 60) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= most else text[: most - 3] + "..."
