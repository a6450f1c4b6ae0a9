"""One source under different checkers: its modules are loaded again, with another `contract` in the place of ours.

The stock tools get what their import hook does: `jaxtyped(typechecker=beartype)` on every function of every module.
"""

import ast
import builtins
import functools
import importlib.util
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jax
from beartype import beartype
from flax import nnx
from jaxtyping import jaxtyped

from contracts import core
from experiments.contract_faults.damage import damaged

CONTRACTS = "contracts.core"

#: What is loaded again, each after those that it imports.
MODULES = (
    "research.model.rotary",
    "research.model.layers",
    "research.model.feed_forward",
    "research.model.query_blocks",
    "research.model.attention",
    "research.model.tokens",
    "research.model.decoder",
    "research.model",
    "experiments.contract_faults.subjects.training_step",
    "experiments.contract_faults.subjects.cached_decoding",
    "experiments.contract_faults.subjects.containers",
)

Decorator = Callable[[Any], Any]


def as_written(value: Any) -> Any:
    """No checker at all."""
    return value


@dataclass(frozen=True)
class Regime:
    """Who checks: what stands for `contracts.core`, and what decorates every other function."""

    name: str
    contract: Decorator = as_written
    through: Callable[[type, Any], Any] = lambda protocol, instance: instance
    conforms: Callable[[Any, type], Any] = lambda implementation, protocol: implementation
    everywhere: Decorator | None = None


STOCK = Regime("stock", everywhere=jaxtyped(typechecker=beartype))
OURS = Regime("ours", core.contract, core.through, core.conforms)


class Onlooker:
    """Stands for `contract` under JAX alone: refuses nothing, and notes what goes into and out of each function."""

    def __init__(self) -> None:
        self.crossings: list[tuple[str, str, str]] = []

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def noted(*args: Any, **kwargs: Any) -> Any:
            given = _form((args, kwargs))
            result = function(*args, **kwargs)
            self.crossings.append((function.__qualname__, given, _form(result)))
            return result

        return noted


def _form(value: Any) -> str:
    """Structure, shapes and dtypes of `value`, modules as they are called."""

    def leaf(item: Any) -> str:
        if isinstance(item, nnx.Module) or not hasattr(item, "dtype"):
            return type(item).__name__
        return f"{item.dtype}{list(item.shape)}"

    return str(jax.tree.map(leaf, value, is_leaf=lambda item: isinstance(item, nnx.Module)))


@cache
def copies_by_regime() -> "tuple[dict[str, Copies], Onlooker]":
    """`jax`, `stock` and `ours`. Once a process: beartype takes two classes of one name for the same."""
    onlooker = Onlooker()
    return {regime.name: Copies(regime) for regime in (Regime("jax", onlooker), STOCK, OURS)}, onlooker


@cache
def source_of(module: str) -> tuple[str, ast.Module]:
    """File name and syntax tree of a module; the tree is shared, so copy it before changing it."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(module)
    return spec.origin, ast.parse(Path(spec.origin).read_text(encoding="utf-8"))


class Copies:
    """The modules under one regime. A function in them can be replaced for a while, wherever it was imported."""

    def __init__(self, regime: Regime) -> None:
        self.regime = regime
        self.modules: dict[str, types.ModuleType] = {CONTRACTS: _stand_in(regime)}
        for name in MODULES:
            self._load(name)

    def __getitem__(self, module: str) -> types.ModuleType:
        return self.modules[module]

    @contextmanager
    def planted(self, module: str, qualname: str, definition: ast.FunctionDef) -> Iterator[None]:
        """Inside, the function or method `qualname` of `module` is the one that `definition` defines."""
        owner_name, _, name = qualname.rpartition(".")
        owner: Any = getattr(self[module], owner_name) if owner_name else self[module]
        original = vars(owner)[name]
        planted = self._defined(module, owner_name, definition)
        places = [owner] if owner_name else [m for m in self.modules.values() if vars(m).get(name) is original]
        for place in places:
            setattr(place, name, planted)
        try:
            yield
        finally:
            for place in places:
                setattr(place, name, original)

    def _load(self, name: str) -> None:
        file, tree = source_of(name)
        module = types.ModuleType(name)
        vars(module).update(__file__=file, damaged=damaged, __builtins__={**vars(builtins), "__import__": self._import})
        self.modules[name] = module
        exec(self._code(tree.body, file), vars(module))

    def _defined(self, module: str, owner: str, definition: ast.FunctionDef) -> Any:
        body: list[ast.stmt] = [definition]
        if owner:
            body = [ast.ClassDef(name=owner, bases=[], keywords=[], body=body, decorator_list=[])]
        found: dict[str, Any] = {}
        exec(self._code(body, source_of(module)[0]), vars(self[module]), found)
        return vars(found[owner])[definition.name] if owner else found[definition.name]

    def _code(self, body: list[ast.stmt], file: str) -> types.CodeType:
        tree = ast.Module(body=body, type_ignores=[])
        if self.regime.everywhere is not None:
            tree = _Decorated().visit(ast.parse(ast.unparse(tree)))
        return compile(ast.fix_missing_locations(tree), file, "exec")

    def _import(
        self,
        name: str,
        namespace: Mapping[str, object] | None = None,
        local: Mapping[str, object] | None = None,
        fromlist: tuple[str, ...] = (),
        level: int = 0,
    ) -> types.ModuleType:
        """`from name import ...`, from the copies first."""
        if name in self.modules:
            return self.modules[name]
        return builtins.__import__(name, namespace, local, fromlist, level)


def _stand_in(regime: Regime) -> types.ModuleType:
    module = types.ModuleType(CONTRACTS)
    vars(module).update(
        contract=regime.contract,
        through=regime.through,
        conforms=regime.conforms,
        everywhere=regime.everywhere,
    )
    return module


class _Decorated(ast.NodeTransformer):
    """Every function, nested ones too, with `everywhere` as its innermost decorator."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        node.decorator_list.append(ast.parse(f"__import__({CONTRACTS!r}).everywhere", mode="eval").body)
        return node
