"""Numba's ``njit`` for every kernel of colgen, with three differences.

1. Cached code depends on all sources that a kernel uses.  Numba compiles called functions and constants into a kernel,
   but only compares the time stamp of the kernel's own file.  So it loads outdated code after a change in another
   module.  Here a cache entry is valid for one digest of the kernel's module and all modules that it imports, directly
   or indirectly, from its package and from colgen.
2. ``fastmath``, ``error_model`` and ``forceinline`` are fixed per kernel.  By default Numba uses the options of the
   first caller, so that results would depend on the order of calls.
3. ``borrows=True`` omits reference counting, for small kernels that work on the arrays of their caller.
"""

from __future__ import annotations

import functools
import glob
import hashlib
import importlib.util
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

import numba
from numba.core import ir
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.dispatcher import Dispatcher
from numba.core.sigutils import normalize_signature

_DEFAULTS = {"fastmath": False, "error_model": "python", "forceinline": False, "no_cfunc_wrapper": True}

_IMPORT = re.compile(r"^\s*(?:from\s+([\w.]+)\s+import\s+(\([^)]*\)|.*)|import\s+([\w.]+))", re.MULTILINE)

if TYPE_CHECKING:
    _F = TypeVar("_F", bound=Callable[..., Any])

    @overload
    def njit(function: _F, /) -> Dispatcher[_F]: ...
    @overload
    def njit(*, cache: bool = ..., borrows: bool = ..., **options: Any) -> Callable[[_F], Dispatcher[_F]]: ...
    def njit(function: Any = None, /, **options: Any) -> Any:
        """Declare types for type checkers; the function itself is below."""
else:

    def njit(function=None, /, *, cache=False, borrows=False, **options):
        """Compile a function with Numba; other ``options`` are passed to it.

        Parameters
        ----------
        cache
            Whether compiled code is stored in files.
        borrows
            Omit reference counting.  The kernel must not allocate or return arrays.  It works on arrays that its caller
            holds.
        """
        options = {**_DEFAULTS, "_nrt": not borrows, **options}
        return functools.partial(_compile, cache, options) if function is None else _compile(cache, options, function)


def _compile(cache: bool, options: dict[str, Any], function: Callable[..., Any]) -> Any:
    kernel: Any = numba.njit(**options)(function)
    if isinstance(kernel, Dispatcher):  # no function of Python: NUMBA_DISABLE_JIT is not set
        if not options["_nrt"]:
            _refuse_arrays(kernel)
        if options.get("no_cpython_wrapper"):
            _refuse_python(kernel)
        if cache:
            kernel._cache = _KernelCache(function)  # type: ignore[attr-defined]
    return kernel


def _refuse_python(kernel: Any) -> None:
    """Raise an error if Python calls a kernel without a wrapper; Numba itself crashes."""

    def refuse() -> None:
        raise TypeError(f"{kernel.py_func.__qualname__} is compiled without a wrapper: only kernels can call it")

    kernel._insert = lambda *_overload: None  # no call from Python finds compiled code
    kernel._compile_for_args = lambda *_arguments: refuse()


def _refuse_arrays(kernel: Any) -> None:
    """Refuse to compile a kernel without reference counting that returns an array or receives one from a callee.

    In the first case no reference holds the array, in the second none is released.  Numba itself refuses allocations in
    such a kernel.
    """
    compile_plainly = kernel._compiler.compile

    def compile_checked(kinds: Any, returned: Any) -> Any:
        compiled = compile_plainly(kinds, returned)
        if _holds_arrays(compiled.signature.return_type):
            raise TypeError(f"{kernel.py_func.__qualname__}: a kernel that borrows its arrays must not return an array")
        types = compiled.type_annotation.typemap
        for call, signature in compiled.type_annotation.calltypes.items():
            if not (isinstance(call, ir.Expr) and call.op == "call" and _holds_arrays(signature.return_type)):
                continue
            callee = types[call.func.name]
            if isinstance(callee, numba.types.Dispatcher) and callee.dispatcher.targetoptions.get("_nrt", True):
                raise TypeError(
                    f"{kernel.py_func.__qualname__}: a kernel that borrows its arrays must not receive one, "
                    f"but {callee.dispatcher.py_func.__qualname__} returns one"
                )
        return compiled

    kernel._compiler.compile = compile_checked


def _holds_arrays(kind: Any) -> bool:
    return isinstance(kind, numba.types.Array) or any(map(_holds_arrays, getattr(kind, "types", ())))


class _KernelCache(FunctionCache):
    """Numba's cache files of one function, with a digest of the sources in their names."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._base, digest = self._impl.filename_base, source_digest(function.__module__)
        self._files = f"{self._base}.{digest[:16]}"
        self._cache_file = _Index(self._cache_path, self._files, digest)  # type: ignore[no-untyped-call]

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the code for arguments of these types, or None.

        The types are compared again.  Two processes that compile a function for different types at the same time may
        write to the same file.
        """
        compiled = super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        return compiled if compiled is not None and compiled.signature.args == normalize_signature(sig)[0] else None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store the code for arguments of these types, and delete the files of earlier sources."""
        super().save_overload(sig, data)  # type: ignore[no-untyped-call]
        for file in Path(self._cache_path).glob(f"{glob.escape(self._base)}.*"):
            if not file.name.startswith(self._files):
                file.unlink(missing_ok=True)


class _Index(IndexDataCacheFile):
    """Numba's list of the files of one function; empty if it names types that no longer exist."""

    def _load_index(self) -> dict[Any, str]:
        try:
            return super()._load_index()  # type: ignore[no-untyped-call, no-any-return]
        except (ImportError, AttributeError, TypeError):
            return {}


def source_digest(module: str) -> str:
    """Return the SHA-256 of the sources of a module and of all modules that it imports, directly or indirectly.

    Only modules of its own top-level package and of colgen count.
    """
    packages = {"colgen", module.partition(".")[0]}
    sources = {module: _read(module)}
    waiting = list(sources)
    while waiting:
        for name in sources[waiting.pop()].imports:
            if name not in sources and name.partition(".")[0] in packages:
                sources[name] = _read(name)
                waiting.append(name)
    return hashlib.sha256("".join(sources[name].digest for name in sorted(sources)).encode()).hexdigest()


class _Source(NamedTuple):
    """Digest of a module's file, and names of modules that it may import; empty if the name is not a module."""

    digest: str = ""
    imports: tuple[str, ...] = ()


def _read(module: str) -> _Source:
    file = _file(module)
    return _Source() if file is None else _parse(module, file, file.stat().st_mtime_ns)


@functools.cache
def _parse(module: str, file: Path, _modified: int) -> _Source:
    source, imports = file.read_bytes(), []
    for start, names, plain in _IMPORT.findall(source.decode()):
        if plain:
            imports.append(plain)
        else:
            package = module if file.name == "__init__.py" else module.rpartition(".")[0]
            origin = importlib.util.resolve_name(start, package) if start.startswith(".") else start
            imports += [origin, *(f"{origin}.{name}" for name in re.findall(r"\w+", names))]
    return _Source(hashlib.sha256(source).hexdigest(), tuple(imports))


@functools.cache
def _file(module: str) -> Path | None:
    """Return the file of a module of a loaded package, or None."""
    top, _, rest = module.partition(".")
    loaded = sys.modules.get(top)
    folders = getattr(loaded, "__path__", None)
    if folders is None:
        files = [Path(getattr(loaded, "__file__", None) or "")]
    else:
        places = [Path(folder, *rest.split(".")) if rest else Path(folder) for folder in folders]
        files = [file for place in places for file in (place.with_suffix(".py"), place / "__init__.py")]
    return next((file for file in files if file.is_file()), None)
