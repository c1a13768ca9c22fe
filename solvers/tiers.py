"""Kernels in two tiers: interpreted while there is little to do, compiled as soon as it pays.

Compiling takes a second for a kernel of some size, loading what was compiled a hundredth; interpreting takes a
millionth for each step of a loop.  So the first solve of a small instance need not wait for the compiler at all::

    @tiered
    @njit(cache=True)
    def improve(...): ...

A kernel that Python calls is interpreted until it has taken :data:`STEPS` steps, over all calls, or all kernels of a
process together some more; a call that would take more is broken off, what it has written is undone, and it is made
anew, compiled.  Results are those of the compiled kernel: anything that goes another way (an exception, a division by
zero, what only compiled code can do) is left to it in the same manner.  Where speed is measured,
:func:`colgen.solvers.compiling.compile_at_once` leaves everything to the compiler.

What compiled code computes in 64 bits, plain Python would compute in the 32 bits of an array's entries.  So arrays of
such are not shown to it: a kernel that looks at one is compiled at once.  Those of whole numbers are shown to kernels
that say that they have been looked at (``narrow=True``): their numbers are places there, or compared and copied.
"""

from __future__ import annotations
import __future__

import ast
import functools
import linecache
import operator
from collections.abc import Callable, Iterator
from itertools import islice, repeat
from types import CodeType, FunctionType
from typing import Any, TypeVar, cast, overload

import numpy as np
from numba import types
from numba.core.dispatcher import Dispatcher
from numba.extending import typeof_impl

from colgen.solvers.compiling import Interpreting

Function = TypeVar("Function", bound=Callable[..., Any])

STEPS = 400_000
"""Of a kernel's loops, before it is compiled: some tenths of a second."""

FEW_STEPS = 50_000
"""Of one that has been compiled in another process, or is soon."""

_CALL, _ENTRIES = 100, 100
"""Steps that a call counts for; and how many entries of arrays that it may write to, which are kept, make one more."""

_MOST = 1_000_000
"""Entries that are kept; more is no small instance."""

_WIDE = frozenset(np.dtype(kind) for kind in (np.bool_, np.int64, np.uint64, np.float64))
_NARROW = frozenset(np.dtype(kind) for kind in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32))
_NAMES = frozenset(kind.name for kind in _NARROW)
_NEVER = frozenset({"float16", "float32", "complex64", "complex128"})

_STEP = "__step__"
_ANNOTATIONS = __future__.annotations.compiler_flag


@overload
def tiered(kernel: Function) -> Function: ...
@overload
def tiered(*, narrow: bool = ...) -> Callable[[Function], Function]: ...
def tiered(kernel: Any = None, *, narrow: bool = False) -> Any:
    """Interpret a kernel's first steps.

    Parameters
    ----------
    kernel
        What ``njit`` has made.
    narrow
        Whether it may be interpreted where it meets whole numbers of less than 64 bits: none of its sums and products
        of them leaves their range.
    """
    if kernel is None:
        return functools.partial(tiered, narrow=narrow)
    if not isinstance(kernel, Dispatcher):  # kernels are interpreted: NUMBA_DISABLE_JIT
        return kernel
    kept = getattr(cast("Any", kernel)._cache, "is_kept", None)
    return Tiered(cast("Any", kernel).py_func, lambda: kernel, narrow=narrow, soon=kept)


class NotPlainError(Exception):
    """A kernel that cannot be interpreted."""


class Tiered:
    """A kernel that is interpreted at first.

    Parameters
    ----------
    function
        What it is compiled from.
    compiled
        Makes the compiled kernel, when it is first needed.
    soon
        Asked when it is first called: whether the compiled kernel is soon at hand.  None: it is not.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        compiled: Callable[[], Any],
        *,
        narrow: bool = False,
        soon: Callable[[], bool] | None = None,
    ) -> None:
        functools.update_wrapper(self, function)
        self._function, self._compiled, self._narrow, self._soon = function, compiled, narrow, soon
        self._steps: Iterator[None] = repeat(None, STEPS)
        self._plain: Callable[..., Any] | None = None
        self._kernel: Any = None
        self._kinds: Any = None
        self._is_compiled = False

    @property
    def kernel(self) -> Any:
        """The compiled kernel, which compiles itself for what it is called with."""
        if self._kernel is None:
            self._kernel = self._compiled()
        return self._kernel

    def __call__(self, *arguments: Any) -> Any:
        if not self._is_compiled and Interpreting.steps > 0:
            found = self._interpreted(arguments)
            if found is not None:
                return found[0]
            self._is_compiled = True
        return self.kernel(*arguments)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.kernel, name)

    def __reduce__(self) -> str:
        return self._function.__qualname__

    def _interpreted(self, arguments: tuple[Any, ...]) -> tuple[Any] | None:
        """What a call returns, in a tuple; None if it has come to nothing, and nothing has changed."""
        if self._plain is None and self._soon is not None and self._soon():
            self._steps = repeat(None, FEW_STEPS)
        before = operator.length_hint(self._steps)
        written = _Written(self._narrow)
        try:
            if self._plain is None:
                self._plain, self._kinds = interpreted(self._function, self._steps.__next__, narrow=self._narrow)
            given = [written.kept(value) for value in arguments]
            next(islice(self._steps, _CALL + written.entries // _ENTRIES, None), None)
            with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="raise"):
                return (_as_compiled(self._plain(*given), self._kinds),)
        except Exception:  # no more steps, or whatever compiled code does in its own way
            written.undo()
            return None
        except BaseException:
            written.undo()
            raise
        finally:
            Interpreting.steps -= before - operator.length_hint(self._steps)


@typeof_impl.register(Tiered)
def _type_of(kernel: Tiered, _context: Any) -> Any:
    return types.Dispatcher(kernel.kernel)


class _Unseen:
    """Stands for an array whose numbers only compiled code may look at: whoever does anything with it fails."""

    __slots__ = ()

    def __bool__(self) -> bool:
        raise NotPlainError


_UNSEEN = _Unseen()


class _Written:
    """Arrays and generators of random numbers as they were before a call."""

    def __init__(self, narrow: bool) -> None:
        self._kinds = _WIDE | _NARROW if narrow else _WIDE
        self._arrays: list[tuple[Any, Any]] = []
        self._states: list[tuple[Any, Any]] = []
        self.entries = 0

    def kept(self, value: Any) -> Any:
        """An argument of a call as it is interpreted; it is kept, and what is in it."""
        if isinstance(value, np.ndarray):
            if value.dtype not in self._kinds:
                return _UNSEEN
            if value.flags.writeable:
                self.entries += value.size
                if self.entries > _MOST:
                    raise NotPlainError
                self._arrays.append((value, value.copy()))
        elif isinstance(value, tuple):
            parts = [self.kept(part) for part in value]
            if any(part is not other for part, other in zip(parts, value, strict=True)):
                return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        elif isinstance(value, np.random.Generator):
            self._states.append((value.bit_generator, value.bit_generator.state))
        elif isinstance(value, np.generic):
            if value.dtype not in self._kinds:
                raise NotPlainError
        elif value is not None and not isinstance(value, (bool, int, float, str, types.WrapperAddressProtocol)):
            raise NotPlainError
        return value

    def undo(self) -> None:
        """Make everything as it was."""
        for array, kept in self._arrays:
            array[...] = kept
        for generator, state in self._states:
            generator.state = state


def _as_compiled(value: Any, kinds: Any) -> Any:
    """A result with Python's own numbers, as compiled code returns it."""
    if value is _UNSEEN:
        raise NotPlainError
    if isinstance(value, np.generic):
        value = value.item()
    if kinds is float and type(value) is int:
        return float(value)
    if isinstance(value, tuple):
        of_each = kinds if isinstance(kinds, tuple) and len(kinds) == len(value) else repeat(None)
        parts = [_as_compiled(part, kind) for part, kind in zip(value, of_each, strict=False)]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


# --- plain functions that count their steps --------------------------------------------------------------------------


def interpreted(function: Any, step: Callable[[], None], *, narrow: bool = False) -> tuple[Callable[..., Any], Any]:
    """A kernel, and all that it calls, as plain functions that call ``step`` in each turn of a loop.

    Returns
    -------
    tuple
        The function, and which parts of what it returns are ``float``: that type, None, or a tuple of these.

    Raises
    ------
    NotPlainError
        If one of them cannot be interpreted.
    """
    spaces: dict[int, dict[str, Any]] = {}
    made: dict[Any, Callable[..., Any]] = {}
    kinds = _WIDE | _NARROW if narrow else _WIDE

    def plain(function: Any) -> Callable[..., Any]:
        if function in made:
            return made[function]
        code = _counted(function)
        if (_NEVER if narrow else _NEVER | _NAMES).intersection(function.__code__.co_names):
            raise NotPlainError
        own = function.__globals__
        space = spaces.setdefault(id(own), {**own, _STEP: step})
        made[function] = other = FunctionType(code, space, function.__name__, function.__defaults__)
        other.__kwdefaults__ = function.__kwdefaults__
        for name in function.__code__.co_names:
            value = own.get(name)
            if isinstance(value, (Dispatcher, Tiered)):
                space[name] = plain(cast("Any", value).py_func if isinstance(value, Dispatcher) else value.__wrapped__)
            elif isinstance(value, (np.ndarray, np.generic)) and value.dtype not in kinds:
                space[name] = _UNSEEN
        return other

    return plain(function), _floats(function)


@functools.cache
def _counted(function: Any) -> CodeType:
    """The code of a function whose loops count their steps; itself one step."""
    code = function.__code__
    imports, definitions = _read(code.co_filename)
    definition = definitions.get((code.co_name, code.co_firstlineno))
    if definition is None or code.co_freevars or not _same(_compiled(imports, definition, code), code):
        raise NotPlainError
    return _compiled(imports, _Counting().visit(definition), code)


def _compiled(imports: list[ast.stmt], definition: ast.stmt, code: CodeType) -> CodeType:
    """A function's code, as the compiler makes it: that looks at what a module imports."""
    module = ast.Module([*imports, definition], type_ignores=[])
    whole = compile(module, code.co_filename, "exec", code.co_flags & _ANNOTATIONS, dont_inherit=True)
    return next(value for value in whole.co_consts if isinstance(value, CodeType) and value.co_name == code.co_name)


def _same(one: CodeType, other: CodeType) -> bool:
    """Whether a function is what its file says: the file may have changed since it was imported."""
    return all(
        getattr(one, what) == getattr(other, what) for what in ("co_code", "co_names", "co_varnames", "co_consts")
    )


@functools.cache
def _read(file: str) -> tuple[list[ast.stmt], dict[tuple[str, int], ast.FunctionDef]]:
    """What a file imports, and its functions by name and first line."""
    try:
        body = ast.parse("".join(linecache.getlines(file))).body
    except SyntaxError:
        body = []
    functions = [node for node in body if isinstance(node, ast.FunctionDef)]
    named = {(node.name, min([node.lineno, *(d.lineno for d in node.decorator_list)])): node for node in functions}
    return [node for node in body if isinstance(node, (ast.Import, ast.ImportFrom))], named


class _Counting(ast.NodeTransformer):
    """Puts a step at the beginning of a function, behind its docstring, and of each turn of its loops."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Of statements in statements too."""
        super().generic_visit(node)
        if isinstance(node, (ast.FunctionDef, ast.For, ast.While)):
            first = int(isinstance(node, ast.FunctionDef) and ast.get_docstring(node, clean=False) is not None)
            node.body.insert(first, _step(node))
        return node


def _step(node: ast.AST) -> ast.stmt:
    call = ast.Expr(ast.Call(ast.Name(_STEP, ast.Load()), [], []))
    return ast.fix_missing_locations(ast.copy_location(call, node))


def _floats(function: Any) -> Any:
    """Which parts of a result are annotated as ``float``: compiled code returns such where Python may have an int."""
    annotation = function.__annotations__.get("return")
    if not isinstance(annotation, str):
        return annotation if annotation is float else None

    def kinds(node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            return float if node.id == "float" else None
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "tuple":
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            return tuple(kinds(part) for part in parts)
        return None

    return kinds(ast.parse(annotation, mode="eval").body)
