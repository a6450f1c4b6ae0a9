"""`bytebound contracts list`: every protocol of the specs, its dims and methods, and what in the project is one."""

import ast
import importlib
import inspect
import json
import pkgutil
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from types import ModuleType
from typing import Any

from contracts.errors import InputError


@dataclass(frozen=True)
class Entry:
    """One protocol as the listing shows it."""

    name: str
    place: str
    """`contracts/decoder.py:86`"""
    meaning: str
    members: tuple[str, ...]
    """as they are written: `__call__(x: Hidden) -> Hidden`"""
    aliases: Mapping[str, str]
    dims: Mapping[str, str]
    """dim to its meaning, and the config field that binds it if one does"""
    conforming: tuple[str, ...]
    almost: tuple[str, ...]
    """what keeps classes from conforming that have all members by their names"""

    def __str__(self) -> str:
        lines = [
            f"{self.name}   {self.place}",
            *textwrap.wrap(self.meaning, 110, initial_indent="  ", subsequent_indent="  "),
        ]
        for title, items in (
            ("members", self.members),
            ("aliases", [f"{name} = {spelled}" for name, spelled in self.aliases.items()]),
            ("dims", [f"{dim}  {meaning}" for dim, meaning in self.dims.items()]),
            ("conforms", self.conforming or ["NOTHING in the project implements it"]),
            ("almost", self.almost),
        ):
            lines += [f"  {title if number == 0 else '':9} {item}" for number, item in enumerate(items)]
        return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class ListContracts:
    """List the protocols of the specs: where each stands, its dims, its methods, and which classes conform.

    A protocol that no class of the project implements is marked.
    """

    json: bool = False
    """print them as JSON"""

    def run(self) -> None:
        """Read the specs and the project, print."""
        import research
        from contracts import core
        from contracts.specification import SPEC_MODULES

        if not core.ENABLED:
            raise InputError("CONTRACTS", expected="on", got="off", hint="with contracts off everything would conform")
        classes, unread = project_classes(research)
        found = entries([importlib.import_module(name) for name in SPEC_MODULES], classes)
        if self.json:
            print(json.dumps({"protocols": [asdict(entry) for entry in found], "unread": unread}, indent=2))
        else:
            print("\n".join([*map(str, found), *(f"not read: {line}" for line in unread)]))


def entries(modules: Sequence[ModuleType], classes: Sequence[type]) -> list[Entry]:
    """One entry for each protocol of `modules`, compared with `classes`."""
    from contracts.specification import protocols_of

    return [_entry(module, protocol, classes) for module in modules for protocol in protocols_of(module).values()]


def project_classes(package: ModuleType) -> tuple[list[type], list[str]]:
    """Every class that a module of `package` defines, and the modules that could not be imported, with the reason."""
    classes, unread = [], []
    for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        try:
            module = importlib.import_module(info.name)
        except ImportError as error:
            unread.append(f"{info.name}: {error}")
            continue
        classes += [each for each in vars(module).values() if inspect.isclass(each) and each.__module__ == info.name]
    return classes, unread


def _entry(module: ModuleType, protocol: type, classes: Sequence[type]) -> Entry:
    from contracts.hints import is_array_hint, spell

    written = tuple(_members(protocol))
    words = set(re.findall(r"\w+", " ".join(written)))
    aliases = {name: spell(hint) for name, hint in vars(module).items() if name in words and is_array_hint(hint)}
    alike = [each for each in classes if has_members(each, protocol)]
    misfits = {f"{each.__module__}.{each.__qualname__}": misfit(each, protocol) for each in alike}
    return Entry(
        name=protocol.__name__,
        place=f"{module.__name__.replace('.', '/')}.py:{inspect.getsourcelines(protocol)[1]}",
        meaning=" ".join((inspect.getdoc(protocol) or "").split("\n\n")[0].split()),
        members=written,
        aliases=aliases,
        dims=_dims(module, aliases.values()),
        conforming=tuple(name for name, problem in misfits.items() if not problem),
        almost=tuple(problem for problem in misfits.values() if problem),
    )


def has_members(cls: type, protocol: type) -> bool:
    """Whether `cls` has what `protocol` asks for, methods that can be called with those parameters.

    Attributes are left out: what `__init__` sets can't be seen on a class.
    """
    from contracts.specification import members

    for name, wanted in members(protocol).items():
        given = getattr(cls, name, None)
        if isinstance(wanted, property) and given is None:
            return False
        if inspect.isfunction(wanted) and not _can_stand_in(given, wanted):
            return False
    return True


def _can_stand_in(given: Any, wanted: Any) -> bool:
    if not inspect.isfunction(given):
        return False
    names, parameters = list(inspect.signature(wanted).parameters), list(inspect.signature(given).parameters.values())
    more = parameters[len(names) :]
    return [each.name for each in parameters[: len(names)]] == names and all(
        each.default is not each.empty or each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD) for each in more
    )


def misfit(cls: type, protocol: type) -> str:
    """Why `cls` does not conform to `protocol`, in one line; empty if it does."""
    from contracts.core import conforms
    from contracts.errors import ContractError

    try:
        conforms(cls, protocol)
    except ContractError as error:
        return str(error).splitlines()[0]
    return ""


def _members(protocol: type) -> Iterator[str]:
    """Attributes, properties and methods, in the words of the source: what an alias is called can't be seen later."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(protocol)))
    for node in tree.body[0].body:  # type: ignore[attr-defined]
        if isinstance(node, ast.AnnAssign):
            yield ast.unparse(node)
        elif isinstance(node, ast.FunctionDef):
            returns = "" if node.returns is None else ast.unparse(node.returns)
            if any(ast.unparse(mark) == "property" for mark in node.decorator_list):
                yield f"{node.name}: {returns}"
            else:
                yield f"{node.name}({', '.join(_arguments(node.args))}) -> {returns}"


def _arguments(arguments: ast.arguments) -> Iterator[str]:
    required = len(arguments.args) - len(arguments.defaults)
    for number, argument in enumerate(arguments.args):
        if argument.arg != "self":
            default = f" = {ast.unparse(arguments.defaults[number - required])}" if number >= required else ""
            yield ast.unparse(argument) + default


def _dims(module: ModuleType, aliases: Any) -> dict[str, str]:
    """Each dim that `aliases` mention: its meaning, and what binds it."""
    from contracts.dims import Dim, bound_fields

    bound: dict[str, str] = {}
    for cls in vars(module).values():
        if inspect.isclass(cls) and is_dataclass(cls):
            bound |= {dim: f"{cls.__name__}.{field}" for dim, field in bound_fields(cls).items()}
    words = {word for alias in aliases for word in re.findall(r"[A-Za-z_]\w*", alias.partition("[")[2])}
    return {
        dim.name: dim.meaning + (f" ({bound[dim.name]})" if dim.name in bound else "")
        for dim in vars(module).values()
        if isinstance(dim, Dim) and dim.name in words
    }
