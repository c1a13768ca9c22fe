"""Compiled kernels are kept in files, as numba keeps them, until anything changes that they are made of.

numba looks at the file that a kernel stands in.  What the kernel calls is compiled into it, and so are the constants
that it names: of those in other modules numba does not see that they have changed, and goes on with the old ones.  Here
an index of kept code is stamped with a digest of all that a kernel reaches by name: the code of what it calls, how that
is compiled, and the constants, as they are in memory when it is first called.

Kernels are compiled by this module's :func:`njit`, not by numba's.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numba
import numpy as np
from numba.core import ir
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.dispatcher import Dispatcher

from colgen.solvers.tiers import Tiered

_PACKAGES = ("colgen",)
"""Whose plain functions and modules are followed; compiled functions are followed wherever they stand."""

_DEFAULTS = {"fastmath": False, "error_model": "python", "forceinline": False}
"""Of what a kernel does not say, numba goes by whoever calls it first: a sum would round, a division by zero end, as
another kernel has asked for, and not so in the next process.  So each kernel says all of it.
"""

_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic, np.dtype, numba.types.Type)


if TYPE_CHECKING:
    _F = TypeVar("_F", bound=Callable[..., Any])

    @overload
    def njit(signatures: _F, /) -> Dispatcher[_F]: ...
    @overload
    def njit(
        signatures: Sequence[Any] | None = None, /, *, cache: bool = ..., borrows: bool = ..., **options: Any
    ) -> Callable[[_F], Dispatcher[_F]]: ...
    def njit(*arguments: Any, **options: Any) -> Any:
        """See below."""
else:

    def njit(signatures=None, *, cache=False, borrows=False, **options):
        """Compile with numba's ``njit``; code that is kept in files follows what the kernel calls.

        Parameters
        ----------
        signatures
            Kinds of arguments for which it is compiled at once, and no others; None: for those that come.  Or the
            function, where the decorator has no brackets.
        cache
            Whether compiled code is kept in files.
        borrows
            The kernel makes no arrays, and hands none out: it works on those that its caller holds.  References are
            not counted then, which a small kernel may spend more time on than on its work.
        options
            numba's own.
        """
        options = {**_DEFAULTS, "_nrt": not borrows, **options}
        if callable(signatures):
            return _compiled(signatures, (), cache, options)
        return lambda function: _compiled(function, signatures or (), cache, options)


def _compiled(function: Callable[..., Any], signatures: Sequence[Any], cache: bool, options: dict[str, Any]) -> Any:
    compiled: Any = numba.njit(**options)(function)
    if not isinstance(compiled, Dispatcher):  # kernels are interpreted: NUMBA_DISABLE_JIT
        return compiled
    if not options["_nrt"]:
        _check_arrays(compiled)
    if cache:
        compiled._cache = KernelCache(compiled)  # type: ignore[attr-defined]
    for signature in signatures:
        compiled.compile(signature)
    if signatures:
        compiled.disable_compile()
    return compiled


def _check_arrays(kernel: Any) -> None:
    """Refuse to compile a kernel that counts no references, yet returns an array, or is given one by a kernel it calls.

    Nobody would hold the one, and nobody let go of the other.  Arrays that it makes itself numba refuses.
    """
    compile_plainly = kernel._compiler.compile

    def compile_checked(kinds: Any, returned: Any) -> Any:
        compiled = compile_plainly(kinds, returned)
        if _holds_arrays(compiled.signature.return_type):
            raise TypeError(f"{kernel.py_func.__qualname__}: a kernel that borrows its arrays returns none")
        types = compiled.type_annotation.typemap
        for call, signature in compiled.type_annotation.calltypes.items():
            if not (isinstance(call, ir.Expr) and call.op == "call" and _holds_arrays(signature.return_type)):
                continue
            callee = types[call.func.name]
            if isinstance(callee, numba.types.Dispatcher) and callee.dispatcher.targetoptions.get("_nrt", True):
                raise TypeError(
                    f"{kernel.py_func.__qualname__}: a kernel that borrows its arrays is given none, as by "
                    f"{callee.dispatcher.py_func.__qualname__}"
                )
        return compiled

    kernel._compiler.compile = compile_checked


def _holds_arrays(kind: Any) -> bool:
    return isinstance(kind, numba.types.Array) or any(map(_holds_arrays, getattr(kind, "types", ())))


class KernelCache(FunctionCache):
    """Where numba keeps the code of one function, stamped with a digest of all that it is made of.

    The digest is taken at the first call: a module is whole by then, also what stands below its kernels.
    """

    def __init__(self, kernel: Dispatcher) -> None:
        super().__init__(kernel.py_func)  # type: ignore[no-untyped-call]
        self._kernel, self._follows = kernel, False

    def is_kept(self) -> bool:
        """Whether there is code of this function in files, right or not."""
        return os.path.exists(os.path.join(self._cache_path, f"{self._impl.filename_base}.nbi"))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Code for arguments of these kinds; None where there is none that is still right."""
        self._follow()
        return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep code for arguments of these kinds."""
        self._follow()
        super().save_overload(sig, data)  # type: ignore[no-untyped-call]

    def _follow(self) -> None:
        if not self._follows:
            stamp = (self._impl.locator.get_source_stamp(), digest(self._kernel))
            self._cache_file = _Index(self._cache_path, self._impl.filename_base, stamp)  # type: ignore[no-untyped-call]
            self._follows = True


class _Index(IndexDataCacheFile):
    """The list of what is kept of one function; nothing, where it speaks of types that are no longer there."""

    def _load_index(self) -> dict[Any, str]:
        try:
            kept: dict[Any, str] = super()._load_index()  # type: ignore[no-untyped-call]
        except (ImportError, AttributeError, TypeError, EOFError, pickle.UnpicklingError):
            return {}  # numba unpacks the types first, and looks at the stamp only then
        return kept


def digest(kernel: Dispatcher) -> str:
    """SHA-256 of the code of a kernel and of all that it reaches by name, constants and compiler's options included."""
    reached: dict[int, _Own] = {}
    waiting: list[Any] = [kernel]
    while waiting:
        value = _kernel_of(waiting.pop())
        if id(value) not in reached:
            reached[id(value)] = own = _own(value)
            waiting += own.names
    return hashlib.sha256("\n".join(sorted({own.text for own in reached.values()})).encode()).hexdigest()


@dataclass(frozen=True)
class _Own:
    """What one function is made of: its code and the constants that it names; and the functions that it names."""

    value: Any
    text: str
    names: tuple[Any, ...]


_KNOWN: dict[int, _Own] = {}
"""By the address of what is kept alive here."""


def _own(value: Any) -> _Own:
    known = _KNOWN.get(id(value))
    if known is None:
        known = _KNOWN[id(value)] = _look_at(value)
    return known


def _look_at(value: Any) -> _Own:
    function = _function_of(value)
    assert function is not None  # nothing else waits
    parts = [function.__module__, function.__qualname__, _code(function.__code__)]
    if isinstance(value, Dispatcher):
        parts.append(repr(sorted((name, _option(option)) for name, option in value.targetoptions.items())))
    callees = []
    for name, named in _named(function):
        if _function_of(named) is not None:
            callees.append(named)
        else:
            constant = _constant(named)
            if constant is not None:
                parts.append(f"{name}={constant}")
    if not isinstance(value, Dispatcher):  # what stands for it in compiled code is named nowhere (``overload``)
        callees += [other for other in _functions_in(function.__module__) if other is not value]
    return _Own(value, hashlib.sha256("\n".join(parts).encode()).hexdigest(), tuple(callees))


def _option(value: Any) -> str:
    return repr(sorted(value) if isinstance(value, (set, frozenset)) else value)


def _kernel_of(value: Any) -> Any:
    return value.kernel if isinstance(value, Tiered) else value


def _function_of(value: Any) -> FunctionType | None:
    """The Python function that a value is compiled from, or is; None for what is not followed."""
    value = _kernel_of(value)
    if isinstance(value, Dispatcher):
        compiled: FunctionType = value.py_func
        return compiled
    plain = getattr(value, "_defn", value) if type(value).__module__.startswith("numba.") else value  # an intrinsic
    if isinstance(plain, FunctionType) and (plain.__module__ or "").partition(".")[0] in _PACKAGES:
        return plain
    return None


def _named(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """What a function's code names outside it: in its module, in enclosing functions, in modules that it names."""
    names = sorted(_names(function.__code__))
    modules = []
    for name in names:
        if name in function.__globals__:
            value = function.__globals__[name]
            yield name, value
            if isinstance(value, ModuleType) and value.__name__.partition(".")[0] in _PACKAGES:
                modules.append(value)
    for module in modules:
        for name in names:
            if name in vars(module):
                yield f"{module.__name__}.{name}", vars(module)[name]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # nothing is in it yet
            continue


def _names(code: CodeType) -> set[str]:
    return set(code.co_names).union(*(_names(inner) for inner in code.co_consts if isinstance(inner, CodeType)))


def _functions_in(module: str) -> list[Any]:
    values = vars(sys.modules[module]).values() if module in sys.modules else ()
    functions = [value for value in values if _function_of(value) is not None]
    return [value for value in functions if value.__module__ == module]


def _code(code: CodeType) -> str:
    """Bytecode, names and constants; neither file nor lines, which compiled code does not depend on."""
    constants = [_code(value) if isinstance(value, CodeType) else _constant(value) for value in code.co_consts]
    return repr((code.co_code, code.co_names, code.co_varnames, code.co_freevars, constants))


def _constant(value: Any) -> str | None:
    """A constant as text that is the same in every process; None for what is no constant that numba takes in."""
    if isinstance(value, _PLAIN):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, tuple):
        return repr([_constant(item) for item in value])
    if isinstance(value, frozenset):
        return repr(sorted(str(_constant(item)) for item in value))
    if isinstance(value, type) and hasattr(value, "_fields"):
        return repr((value.__module__, value.__qualname__, value._fields))
    return None
