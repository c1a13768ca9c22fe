"""Rules that prevent unnecessary compilation by numba, which tests of results do not detect."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
FLOORS = ("colgen", "solvers", "problems", "benchmarks", "tests")
LINKS = {("colgen", "solvers"), ("colgen", "problems")}
COMPILERS = ("njit", "kernel", "inner", "folded", "quick", "typed")


def kernels():
    """Yield the file and syntax tree of every function that numba compiles."""
    for floor in ("solvers", "problems"):
        for path in sorted((ROOT / floor).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if any(name in text for name in COMPILERS):
                for node in ast.walk(ast.parse(text)):
                    if isinstance(node, ast.FunctionDef) and any(map(is_compiled, node.decorator_list)):
                        yield path.relative_to(ROOT).as_posix(), node


def is_compiled(decorator):
    return any(isinstance(node, ast.Name) and node.id in COMPILERS for node in ast.walk(decorator))


def is_literal(node):
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, int)  # truth values too


def test_no_kernel_is_compiled_for_a_literal():
    """numba compiles a kernel again for each integer or boolean literal in a call."""
    every = list(kernels())
    assert len(every) > 300
    names = {node.name for _, node in every}
    found = [
        f"{path}:{call.lineno}: {ast.unparse(call)} (solvers/kernels.py)"
        for path, node in every
        for call in ast.walk(node)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in names
        if any(map(is_literal, call.args))
    ]
    assert found == []


def test_every_kernel_is_kept_with_what_it_calls():
    """The cache of numba's own ``njit`` ignores changes of callees and constants in other modules."""
    own = "solvers/kernel_cache.py"
    found = [
        path.relative_to(ROOT).as_posix()
        for floor in ("solvers", "problems")
        for path in sorted((ROOT / floor).rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("from numba import") and "jit" in line
    ]
    assert [path for path in found if path != own] == []


def test_a_kernel_that_only_kernels_call_has_no_wrapper_for_python():
    """The wrapper takes up to 25% of the compilation time."""
    compiled = {(path, node.name): node for path, node in kernels()}
    called = set()
    for path in [path for floor in FLOORS for path in (ROOT / floor).rglob("*.py")]:
        if path.relative_to(ROOT).parts[:2] in LINKS:
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if (path.relative_to(ROOT).as_posix(), getattr(node, "name", "")) not in compiled:
                called.update(getattr(name, "id", getattr(name, "attr", "")) for name in ast.walk(node))
    found = [
        f"{path}: {name}"
        for (path, name), node in compiled.items()
        if name not in called and not any(map(has_no_wrapper, node.decorator_list))
    ]
    assert found == []


def has_no_wrapper(decorator):
    return any(word in ast.unparse(decorator) for word in ("inner", "folded", "quick", "no_cpython_wrapper=True"))
