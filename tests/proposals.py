"""Where in the engines does a midpoint, a float or a rounded number reach a decision?

A walk over the syntax trees, with a data flow through each function and, for whole numbers, into
the functions that it calls. *Proposals* are midpoints of balls, floats, what is computed from
them, and what is annotated as a float. A *place* is where a proposal decides: a comparison, the
truth of a value, the key of an order, the bound of a loop, an index. Balls and fractions that a
function is given, and balls and enclosures that it returns, are no proposals: it answers for any
point, and what decides inside it is judged there.

Every place must say why no result depends on its being right: by a comment ``# proposes: why`` on
its lines or directly above its statement, or by a sentence that begins with ``Proposes:`` in the
docstring of a function (class, module) that does nothing but propose.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeVar

#: Calls that make a proposal of anything.
_POINTS = {"float", "mid", "midpoint", "approximate", "approximate_log"}
#: Functions of ``math`` that compute with integers, exactly.
_EXACT_MATH = {"ceil", "floor", "comb", "gcd", "isqrt", "lcm", "perm", "prod", "factorial"}
_EXACT_MATH |= {"isfinite", "isinf", "isnan"}
#: Calls that hide how large a value is.
_SIZES = {"len", "isinstance", "id", "type", "hash"}
#: Methods that mean nothing of ours where the owner is unknown.
_BUILTIN = {name for kind in (list, dict, set, str, int) for name in dir(kind)}
_SIZE_ATTRIBUTES = {"dtype", "ndim", "shape", "size"}
Value = TypeVar("Value")
_MARK = re.compile(r"#\s*proposes:\s*(\S.*)")
_MARKED_DOCSTRING = re.compile(r"(?:^|\s)Proposes:\s+\S")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = (*_FUNCTIONS, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


@dataclass(frozen=True)
class Place:
    """A place where a proposal decides."""

    path: str
    line: int
    kind: str
    expression: str
    reason: str | None
    """What the code says why this is harmless; ``None`` where it says nothing."""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.kind}: {self.expression}"


@dataclass
class _Class:
    """What is known of a class: annotated types of attributes, results of methods, proposals."""

    path: str
    name: str
    annotations: dict[str, str] = field(default_factory=dict)
    results: dict[str, str] = field(default_factory=dict)
    proposals: set[str] = field(default_factory=set)
    """Attributes assigned from proposals, methods that return them."""
    bases: list[str] = field(default_factory=list)
    fields: list[str] = field(default_factory=list)
    """The annotated names of the body, in the order of a dataclass's arguments."""


@dataclass
class _World:
    """All that is known of the sources; a name is looked up in its module, then in all others."""

    classes: dict[str, _Class] = field(default_factory=dict)
    """By ``module:name``."""
    functions: dict[str, dict[str, str]] = field(default_factory=dict)
    """Annotated results of functions, by name and by module."""
    proposing: dict[str, set[str]] = field(default_factory=dict)
    """Functions that return a proposal, by name: their modules."""
    imports: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    """What a name of a module is imported as: ``(module, name)``."""
    signatures: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    """Annotated parameters, by module and by name of the function or ``class.method``."""
    given: set[tuple[str, str, str]] = field(default_factory=set)
    """Module, function and parameter where a whole number that is a proposal is passed."""
    proposed: set[str] = field(default_factory=set)
    """The names of all ``proposals`` of classes."""
    aliases: set[str] = field(default_factory=lambda: {"Floats"})

    @cached_property
    def classes_named(self) -> dict[str, list[str]]:
        """The keys of ``classes`` by the names of the classes."""
        return _grouped((key.rpartition(":")[2], key) for key in self.classes)

    @cached_property
    def classes_with(self) -> dict[str, list[_Class]]:
        """The classes by the names that they annotate, attributes and results."""
        return _grouped((n, c) for c in self.classes.values() for n in c.annotations | c.results)

    @cached_property
    def called(self) -> dict[str, list[str]]:
        """The modules of ``signatures`` by the names of the functions."""
        return _grouped((name, module) for module, name in self.signatures)

    def propose(self, known: _Class, name: str) -> None:
        """Note that a member of a class is a proposal."""
        known.proposals.add(name)
        self.proposed.add(name)

    def floating(self, annotation: str) -> bool:
        """Whether ``annotation`` names floats, alone or in a container."""
        if re.search(r"\b(Fraction|Real|arb|fmpq|Bound|Enclosure|object|Any)\b", annotation):
            return False
        return bool(re.search(r"\b(float|float64|" + "|".join(self.aliases) + r")\b", annotation))

    def result(self, path: str, name: str) -> str | None:
        """The annotated result of a function that the module ``path`` calls ``name``."""
        path, name = self.origin(path, name)
        found = self.functions.get(name)
        if found is None:
            return None
        return found[path] if path in found else " | ".join(sorted(set(found.values())))

    def returns_proposal(self, path: str, name: str) -> bool:
        """Whether a function of that name returns a proposal."""
        path, name = self.origin(path, name)
        modules = self.functions.get(name, {})
        return any(
            m in self.proposing.get(name, ()) for m in ([path] if path in modules else modules)
        )

    def origin(self, path: str, name: str) -> tuple[str, str]:
        """Where what the module ``path`` calls ``name`` was defined, and under which name."""
        while (path, name) in self.imports:
            path, name = self.imports[path, name]
        return path, name

    def class_named(self, path: str, name: str) -> str | None:
        """The class that the module ``path`` calls ``name``, where there is but one."""
        path, name = self.origin(path, name)
        if f"{path}:{name}" in self.classes:
            return f"{path}:{name}"
        found = self.classes_named.get(name, [])
        return found[0] if len(found) == 1 else None

    def lineage(self, key: str | None) -> Iterator[_Class]:
        """The class and its bases."""
        found = self.classes.get(key or "")
        if key is not None and found is not None:
            yield found
            for name in found.bases:
                base = self.class_named(key.split(":")[0], name)
                if base != key:
                    yield from self.lineage(base)

    def member(self, owner: str | None, name: str) -> bool:
        """Whether attribute or method ``name`` of ``owner`` is a proposal.

        Of an unknown owner it is, if it is one in all classes that have it.
        """
        if owner in self.classes:
            return any(self._has(c, name) is True for c in self.lineage(owner))
        if name in _BUILTIN:
            return False
        known = [self._has(c, name) for c in self.classes_with.get(name, ())]
        return all(known) if known else name in self.proposed

    def _has(self, known: _Class, name: str) -> bool | None:
        if name in known.proposals:
            return True
        for table in (known.annotations, known.results):
            if name in table:
                return self.floating(table[name])
        return None

    def type_of_member(self, owner: str | None, name: str) -> str | None:
        for known in self.lineage(owner):
            for table in (known.annotations, known.results):
                if name in table:
                    return self.class_in(known.path, table[name])
        return None

    def class_in(self, path: str, annotation: str) -> str | None:
        """The one class that ``annotation`` names in the module ``path``."""
        named = {self.class_named(path, word) for word in re.findall(r"\w+", annotation)} - {None}
        return named.pop() if len(named) == 1 else None


def places(sources: Mapping[str, str], others: Mapping[str, str] | None = None) -> list[Place]:
    """The places of all ``sources``: texts of modules by path; ``others`` are only known of."""
    trees = {path: ast.parse(text) for path, text in sources.items()}
    world = _survey(trees | {path: ast.parse(text) for path, text in (others or {}).items()})
    walks = [_Module(path, sources[path], trees[path], world) for path in trees]
    while True:
        before = _known(world)
        found = [place for walk in walks for place in walk.places()]
        if _known(world) == before:
            return sorted(set(found), key=lambda place: (place.path, place.line, place.expression))


def sources_below(root: Path, parts: Iterable[str]) -> dict[str, str]:
    """The Python files in ``parts`` of ``root``, by path relative to it."""
    files = [
        file
        for part in parts
        for file in ([root / part] if part.endswith(".py") else sorted((root / part).rglob("*.py")))
    ]
    return {file.relative_to(root).as_posix(): file.read_text("utf-8") for file in files}


def _grouped(pairs: Iterable[tuple[str, Value]]) -> dict[str, list[Value]]:
    groups: dict[str, list[Value]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def _known(world: _World) -> int:
    return (
        len(world.given)
        + sum(map(len, world.proposing.values()))
        + sum(len(c.proposals) for c in world.classes.values())
    )


def _survey(trees: Mapping[str, ast.Module]) -> _World:
    world = _World()
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                file = node.module.replace(".", "/")
                source = next((f for f in (f"{file}.py", f"{file}/__init__.py") if f in trees), "")
                for alias in node.names if source else ():
                    world.imports[path, alias.asname or alias.name] = source, alias.name
            if isinstance(node, ast.ClassDef):
                known = world.classes.setdefault(f"{path}:{node.name}", _Class(path, node.name))
                known.bases += [ast.unparse(b).split("[")[0] for b in node.bases]
                for part in ast.walk(node):
                    if isinstance(part, ast.AnnAssign):
                        name = part.target.attr if isinstance(part.target, ast.Attribute) else None
                        name = part.target.id if isinstance(part.target, ast.Name) else name
                        if name is not None:
                            known.annotations[name] = ast.unparse(part.annotation)
                for part in node.body:
                    match part:
                        case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                            if "ClassVar" not in ast.unparse(annotation):
                                known.fields.append(name)
                    if isinstance(part, _FUNCTIONS) and part.returns is not None:
                        known.results[part.name] = ast.unparse(part.returns)
                known.annotations |= _from_parameters(node)
        for owner in [tree, *(n for n in ast.walk(tree) if isinstance(n, ast.ClassDef))]:
            prefix = f"{owner.name}." if isinstance(owner, ast.ClassDef) else ""
            for node in owner.body:
                if isinstance(node, _FUNCTIONS):
                    world.signatures[path, prefix + node.name] = {
                        a.arg: ast.unparse(a.annotation) if a.annotation else ""
                        for a in _parameters(node.args)
                    }
        for node in tree.body:
            if isinstance(node, _FUNCTIONS) and node.returns is not None:
                world.functions.setdefault(node.name, {})[path] = ast.unparse(node.returns)
    return world


def _parameters(arguments: ast.arguments) -> list[ast.arg]:
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]


def _from_parameters(node: ast.ClassDef) -> dict[str, str]:
    """Types of attributes that ``__init__`` copies from its parameters."""
    found = {}
    for function in node.body:
        if isinstance(function, _FUNCTIONS) and function.name == "__init__":
            annotated = {
                a.arg: ast.unparse(a.annotation) for a in function.args.args if a.annotation
            }
            for part in ast.walk(function):
                if isinstance(part, ast.Assign) and len(part.targets) == 1:
                    target, value = part.targets[0], part.value
                    targets = target.elts if isinstance(target, ast.Tuple) else [target]
                    values = value.elts if isinstance(value, ast.Tuple) else [value]
                    for t, v in zip(targets, values, strict=False):
                        match t, v:
                            case ast.Attribute(attr=name), ast.Name(id=given) if given in annotated:
                                found[name] = annotated[given]
    return found


class _Module:
    """The walk over one module."""

    def __init__(self, path: str, text: str, tree: ast.Module, world: _World) -> None:
        self.path, self.lines, self.tree, self.world = path, text.splitlines(), tree, world
        self.modules = _imported_modules(tree)
        self._parts: dict[ast.stmt, list[ast.AST]] = {}

    def parts(self, statement: ast.stmt) -> list[ast.AST]:
        """The expressions of a statement and all below them; each is asked for many times."""
        if statement not in self._parts:
            self._parts[statement] = [
                part for expression in _own(statement) for part in ast.walk(expression)
            ]
        return self._parts[statement]

    def places(self) -> Iterator[Place]:
        yield from self._scope(self.tree, self.tree.body, None, None, [self.tree])

    def _scope(
        self,
        node: ast.AST,
        body: list[ast.stmt],
        owner: str | None,
        outer: _Flow | None,
        above: list[ast.AST],
    ) -> Iterator[Place]:
        flow = _Flow(self, node, body, owner, outer)
        reason = next(filter(None, map(_docstring_reason, above)), None)
        for statement in _statements(body):
            for kind, place in flow.decisions(statement):
                why = self._comment(statement, place) or reason
                yield Place(self.path, place.lineno, kind, ast.unparse(place), why)
        flow.report()
        for statement in _statements(body):
            if isinstance(statement, ast.ClassDef):
                inner = [*above, statement]
                name = f"{self.path}:{statement.name}"
                yield from self._scope(statement, statement.body, name, None, inner)
            elif isinstance(statement, _FUNCTIONS):
                inner = [*above, statement]
                yield from self._scope(statement, statement.body, owner, flow, inner)

    def _comment(self, statement: ast.stmt, place: ast.expr) -> str | None:
        """The reason given on the lines of the place, of the head of its statement, or above."""
        head = statement.lineno
        if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)) and statement.decorator_list:
            head = statement.decorator_list[0].lineno
        lines = {*range(place.lineno, (place.end_lineno or place.lineno) + 1), head}
        if not hasattr(statement, "body"):
            lines |= set(range(head, (statement.end_lineno or head) + 1))
        for start in (head, place.lineno):
            line = start - 1
            while line > 0 and self.lines[line - 1].lstrip().startswith("#"):
                lines.add(line)
                line -= 1
        for line in sorted(lines):
            if match := _MARK.search(self.lines[line - 1]):
                return match.group(1)
        return None


def _imported_modules(tree: ast.Module) -> set[str]:
    """Names under which modules are known (by our convention, lower case)."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {(a.asname or a.name).split(".")[0] for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {a.asname or a.name for a in node.names if a.name.islower()}
    return names


def _docstring_reason(node: ast.AST) -> str | None:
    if not isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.Module)):
        return None
    text = ast.get_docstring(node) or ""
    match = _MARKED_DOCSTRING.search(text)
    return text[match.end() - 1 :] if match else None


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """All statements of a scope: those inside functions and classes are of another."""
    for statement in body:
        yield statement
        if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
            continue
        for name in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(statement, name, []))
        for handler in getattr(statement, "handlers", []):
            yield from _statements(handler.body)
        for case in getattr(statement, "cases", []):
            yield from _statements(case.body)


def _own(statement: ast.stmt) -> Iterator[ast.expr]:
    """The expressions of a statement that are not in statements below it."""
    if isinstance(statement, ast.Match):
        yield statement.subject
        yield from (case.guard for case in statement.cases if case.guard is not None)
        return
    if isinstance(statement, _FUNCTIONS):
        yield from (d for d in [*statement.args.defaults, *statement.args.kw_defaults] if d)
        return
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.expr):
            yield child
        elif isinstance(child, ast.withitem):
            yield child.context_expr


class _Flow:
    """What the names of one scope may hold, whatever the order of its statements.

    A name's kind is ``"!"`` for a proposal, or the name of its class in the sources.
    """

    def __init__(
        self,
        module: _Module,
        node: ast.AST,
        body: list[ast.stmt],
        owner: str | None,
        outer: _Flow | None,
    ) -> None:
        self.world, self.owner, self.node = module.world, owner, node
        self.kinds: dict[str, str] = dict(outer.kinds) if outer else {}
        self.module, self.path, self.modules = module, module.path, module.modules
        self.body = body
        self.points: set[str] = set()
        self.certified: set[str] = set(outer.certified) if outer else set()
        """Functions given or made here whose annotated result is no float."""
        for statement in _statements(body):
            if isinstance(statement, _FUNCTIONS) and statement.returns is not None:
                if self.world.floating(ast.unparse(statement.returns)):
                    self.kinds[statement.name] = "!"
                else:
                    self.certified.add(statement.name)
        if isinstance(node, _FUNCTIONS):
            self._parameters(node.args)
        while True:
            before = dict(self.kinds)
            for statement in _statements(body):
                self._assignments(statement)
            if self.kinds == before:
                break

    def _parameters(self, arguments: ast.arguments) -> None:
        me = self.node.name if isinstance(self.node, _FUNCTIONS) else ""
        me = f"{self.owner.split(':')[1]}.{me}" if self.owner else me
        more = filter(None, [arguments.vararg, arguments.kwarg])
        for argument in [*_parameters(arguments), *more]:
            self.kinds.pop(argument.arg, None)
            self.certified.discard(argument.arg)
            if argument.annotation is None:
                if argument.arg in ("self", "cls") and self.owner:
                    self.kinds[argument.arg] = self.owner
                continue
            annotation = ast.unparse(argument.annotation)
            if annotation.startswith("Callable"):
                annotation = annotation.rsplit("],", 1)[-1]
                if not self.world.floating(annotation):
                    self.certified.add(argument.arg)
            if self.world.floating(annotation) or (self.path, me, argument.arg) in self.world.given:
                self.kinds[argument.arg] = "!"
            elif found := self.world.class_in(self.path, annotation):
                self.kinds[argument.arg] = found

    # --- assignments ----------------------------------------------------------------------------

    def _assignments(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                self._bind(target, statement.value)
        elif isinstance(statement, ast.AnnAssign):
            if self.world.floating(ast.unparse(statement.annotation)):
                self._mark(statement.target)
            elif statement.value is not None:
                self._bind(statement.target, statement.value)
        elif isinstance(statement, ast.AugAssign):
            self._bind(statement.target, statement.value)
        elif isinstance(statement, ast.For | ast.AsyncFor):
            self._bind_item(statement.target, statement.iter)
        elif isinstance(statement, ast.With | ast.AsyncWith):
            for item in statement.items:
                if item.optional_vars is not None:
                    self._bind(item.optional_vars, item.context_expr)
        elif isinstance(statement, ast.Match) and self.tainted(statement.subject):
            for case in statement.cases:
                for part in ast.walk(case.pattern):
                    if isinstance(part, ast.MatchAs | ast.MatchStar) and part.name:
                        self.kinds[part.name] = "!"
        for part in self.module.parts(statement):
            if isinstance(part, ast.NamedExpr):
                self._bind(part.target, part.value)
            if isinstance(part, ast.Call):
                self._constructed(part)
                self._passed(part)
            if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
                grows = part.func.attr in ("append", "extend", "add", "insert", "update")
                if grows and any(map(self.tainted, part.args)):
                    self._mark(part.func.value)

    def _passed(self, call: ast.Call) -> None:
        """Whole numbers that are proposals stay proposals in the function they are given to."""
        called = self._called(call.func)
        if called is None or called not in self.world.signatures:
            return
        annotations = self.world.signatures[called]
        method = "." in called[1]
        given = dict(zip(list(annotations)[method:], call.args, strict=False))
        given |= {k.arg: k.value for k in call.keywords if k.arg is not None}
        for name, value in given.items():
            if re.search(r"\bint\b", annotations.get(name, "")) and self.tainted(value):
                self.world.given.add((*called, name))

    def _called(self, function: ast.expr) -> tuple[str, str] | None:
        """Module and name of a function or method of the sources."""
        match function:
            case ast.Name(id=name):
                return self.world.origin(self.path, name)
            case ast.Attribute(value=ast.Name(id=module), attr=attr) if module in self.modules:
                ends = (f"/{module}.py", f"/{module}/__init__.py")
                modules = self.world.called.get(attr, [])
                return next(((m, attr) for m in modules if m.endswith(ends)), None)
            case ast.Attribute(value=value, attr=attr):
                for known in self.world.lineage(self.type_of(value)):
                    if (known.path, f"{known.name}.{attr}") in self.world.signatures:
                        return known.path, f"{known.name}.{attr}"
        return None

    def _constructed(self, call: ast.Call) -> None:
        """Exact numbers in an object that were proposals when it was made stay proposals."""
        name = getattr(call.func, "id", getattr(call.func, "attr", ""))
        key = self.world.class_named(self.path, name)
        if key is None:
            return
        known = self.world.classes[key]
        given = dict(zip(known.fields, call.args, strict=False))
        given |= {k.arg: k.value for k in call.keywords if k.arg is not None}
        for attribute, value in given.items():
            annotation = known.annotations.get(attribute, "")
            exact = not re.search(r"\b(arb|acb|Enclosure)\b", annotation)
            if exact and attribute in known.fields and self.tainted(value):
                self.world.propose(known, attribute)

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
                for t, v in zip(target.elts, value.elts, strict=True):
                    self._bind(t, v)
                return
            parts = self._parts_of_result(value, len(target.elts))
            if parts is not None:
                for t, proposes in zip(target.elts, parts, strict=True):
                    if proposes:
                        self._mark(t)
                return
            for t in target.elts:
                self._bind(t, value)
        elif self.tainted(value):
            self._mark(target)
            if isinstance(target, ast.Name) and self.is_point(value):
                self.points.add(target.id)
        elif isinstance(target, ast.Name) and (found := self.type_of(value)):
            self.kinds.setdefault(target.id, found)

    def _parts_of_result(self, value: ast.expr, size: int) -> list[bool] | None:
        """Which parts of an annotated result, a tuple of ``size``, are proposals."""
        annotation = self._annotated_result(value)
        if annotation is None or not annotation.startswith("tuple["):
            return None
        parsed = ast.parse(annotation, mode="eval").body
        assert isinstance(parsed, ast.Subscript)
        if not isinstance(parsed.slice, ast.Tuple) or len(parsed.slice.elts) != size:
            return None
        return [self.world.floating(ast.unparse(part)) for part in parsed.slice.elts]

    def _annotated_result(self, value: ast.expr) -> str | None:
        if not isinstance(value, ast.Call):
            return None
        if isinstance(value.func, ast.Name):
            return self.world.result(self.path, value.func.id)
        if isinstance(value.func, ast.Attribute):
            if self._is_module(value.func.value):
                return self.world.result(self.path, value.func.attr)
            for known in self.world.lineage(self.type_of(value.func.value)):
                if value.func.attr in known.results:
                    return known.results[value.func.attr]
        return None

    def _bind_item(self, target: ast.expr, iterable: ast.expr) -> None:
        """Bind ``target`` to the items of ``iterable``."""
        if isinstance(iterable, ast.Call) and isinstance(iterable.func, ast.Name):
            name, arguments = iterable.func.id, iterable.args
            elements = target.elts if isinstance(target, ast.Tuple) else []
            if name == "zip" and len(elements) == len(arguments):
                for t, a in zip(elements, arguments, strict=True):
                    self._bind_item(t, a)
                return
            if name == "enumerate" and len(elements) == 2:
                self._bind_item(elements[1], arguments[0])
                return
            if name == "range":
                return
        if isinstance(target, ast.Tuple) and isinstance(iterable, _COMPREHENSIONS[:3]):
            self._bind(target, iterable.elt)
            return
        self._bind(target, iterable)

    def _mark(self, target: ast.expr) -> None:
        match target:
            case ast.Name(id=name):
                self.kinds[name] = "!"
            case ast.Starred(value=value) | ast.Subscript(value=value):
                self._mark(value)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for part in parts:
                    self._mark(part)
            case ast.Attribute(value=ast.Name(id="self"), attr=attr) if self.owner:
                self.world.propose(self.world.classes[self.owner], attr)

    # --- expressions ----------------------------------------------------------------------------

    def type_of(self, node: ast.expr) -> str | None:
        """The class of the sources whose instance ``node`` is, where that is plain to see."""
        match node:
            case ast.Name(id=name):
                kind = self.kinds.get(name)
                return kind if kind != "!" else None
            case ast.Attribute(value=value, attr=attr):
                return self.world.type_of_member(self.type_of(value), attr)
            case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
                if named := self.world.class_named(self.path, name):
                    return named
                annotation = self._annotated_result(node)
                return self.world.class_in(self.path, annotation) if annotation else None
            case ast.Subscript(value=value):
                return self.type_of(value)
        return None

    def tainted(self, node: ast.expr) -> bool:
        """Whether ``node`` is, or is computed from, a proposal."""
        match node:
            case ast.Name(id=name):
                return self.kinds.get(name) == "!"
            case ast.Constant() | ast.JoinedStr() | ast.Lambda():
                return False
            case ast.Compare():
                return False  # a place of its own
            case ast.UnaryOp(op=ast.Not()):
                return False
            case ast.Attribute(value=value, attr=attr):
                if self._is_module(value) or attr in _SIZE_ATTRIBUTES:
                    return False
                return self.tainted(value) or self.world.member(self.type_of(value), attr)
            case ast.Call():
                return self._tainted_call(node)
            case ast.IfExp(body=body, orelse=orelse):
                return self.tainted(body) or self.tainted(orelse)
            case ast.Subscript(value=value):
                return self.tainted(value)  # a proposed index is a place of its own
            case ast.ListComp(elt=elt) | ast.SetComp(elt=elt) | ast.GeneratorExp(elt=elt):
                self._comprehend(node)
                return self.tainted(elt)
            case ast.DictComp(key=key, value=value):
                self._comprehend(node)
                return self.tainted(key) or self.tainted(value)
            case ast.NamedExpr(value=value):
                return self.tainted(value)
        return any(self.tainted(c) for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr))

    def _comprehend(self, node: ast.expr) -> None:
        for generator in getattr(node, "generators", []):
            self._bind_item(generator.target, generator.iter)

    def _tainted_call(self, node: ast.Call) -> bool:
        arguments = [*node.args, *(k.value for k in node.keywords)]
        given = any(map(self.tainted, arguments))
        match node.func:
            case ast.Name(id=name):
                if name in _POINTS:
                    return not _is_infinity(node)
                if name in _SIZES:
                    return False
                if name == "ball":
                    return given
                if name == "map" and node.args:
                    return given or self._proposes(node.args[0])
                if name in self.certified:
                    return False
                if name in self.kinds:
                    return self.kinds[name] == "!"  # a function that is given, or made here
                return self._function(name) if self._of_sources(name) else given
            case ast.Attribute(value=value, attr=attr):
                if self._is_module(value):
                    module = value.id if isinstance(value, ast.Name) else ""
                    if attr in _POINTS:
                        return True
                    if module == "math":
                        return attr not in _EXACT_MATH or given
                    if module == "np":
                        return True
                    if attr == "ball":
                        return given
                    return self._function(attr) if self._of_sources(attr) else given
                if attr in _POINTS:
                    return True
                owner = self.type_of(value)
                if owner is not None:
                    return self.world.member(owner, attr)
                return self.tainted(value) or self.world.member(None, attr)
        return given

    def _of_sources(self, name: str) -> bool:
        return name in self.world.functions or self.world.class_named(self.path, name) is not None

    def _function(self, name: str) -> bool:
        annotation = self.world.result(self.path, name) or ""
        return self.world.returns_proposal(self.path, name) or self.world.floating(annotation)

    def _is_module(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id in self.modules and node.id not in self.kinds

    def is_point(self, node: ast.expr) -> bool:
        """Whether ``node`` is a midpoint itself, and not a ball computed from one."""
        match node:
            case ast.Call(func=ast.Attribute(attr="mid")):
                return True
            case ast.Name(id=name):
                return name in self.points
            case ast.Tuple(elts=elts):
                return any(map(self.is_point, elts))
            case ast.IfExp(body=body, orelse=orelse):
                return self.is_point(body) or self.is_point(orelse)
            case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
                return self.world.returns_proposal(self.path, name)
        return False

    # --- what it says to others, and where it decides -------------------------------------------

    def report(self) -> None:
        """Tell the world whether this function returns proposals."""
        node = self.node
        if not isinstance(node, _FUNCTIONS):
            return
        annotation = ast.unparse(node.returns) if node.returns else ""
        if re.search(r"\b(bool|str|None|Enclosure)\b", annotation):
            return
        returned = [
            s.value for s in _statements(self.body) if isinstance(s, ast.Return) and s.value
        ]
        if re.fullmatch(r"int|Fraction", annotation):
            proposes = any(map(self.tainted, returned))
        elif re.search(r"\b(arb|fmpq|fmpz)\b", annotation):
            proposes = any(map(self.is_point, returned))
        else:
            return
        if proposes and self.owner:
            self.world.propose(self.world.classes[self.owner], node.name)
        elif proposes:
            self.world.proposing.setdefault(node.name, set()).add(self.path)

    def decisions(self, statement: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
        """The places of a statement, without those of statements below it."""
        match statement:
            case ast.If(test=test) | ast.While(test=test) | ast.Assert(test=test):
                yield from self._truth(test)
            case ast.Match(subject=subject) if self.tainted(subject):
                yield "match", subject
        for node in self.module.parts(statement):
            if isinstance(node, ast.expr):
                self._comprehend(node)
                yield from self._decides(node)

    def _truth(self, node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
        if not isinstance(node, ast.Compare | ast.BoolOp | ast.UnaryOp) and self.tainted(node):
            yield "truth", node

    def _decides(self, node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
        match node:
            case ast.Compare(left=left, comparators=others, ops=ops):
                if any(isinstance(op, ast.Is | ast.IsNot) for op in ops):
                    return
                if self.tainted(left) or any(map(self.tainted, others)):
                    yield "comparison", node
            case ast.IfExp(test=test):
                yield from self._truth(test)
            case ast.BoolOp(values=values):
                for value in values:
                    yield from self._truth(value)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield from self._truth(operand)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                for generator in node.generators:
                    for test in generator.ifs:
                        yield from self._truth(test)
            case ast.Subscript(slice=index) if isinstance(node.ctx, ast.Load):
                if self.tainted(index):
                    yield "index", node
            case ast.Call(func=function, args=arguments, keywords=keywords):
                name = getattr(function, "id", getattr(function, "attr", ""))
                if name == "range" and any(map(self.tainted, arguments)):
                    yield "loop", node
                for keyword in keywords:
                    if keyword.arg == "key" and self._proposes(keyword.value):
                        yield "order", node

    def _proposes(self, function: ast.expr) -> bool:
        """Whether a function, passed as the key of an order, returns proposals."""
        if isinstance(function, ast.Lambda):
            return self.tainted(function.body)
        call = ast.Call(func=function, args=[], keywords=[])
        return self._tainted_call(call)


def _is_infinity(call: ast.Call) -> bool:
    """``float("inf")`` is exact."""
    return len(call.args) == 1 and isinstance(call.args[0], ast.Constant)
