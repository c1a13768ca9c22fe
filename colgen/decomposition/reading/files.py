"""Models in MPS and LP files, read by HiGHS, with decompositions in GCG's formats."""

from __future__ import annotations

import dataclasses
import gzip
import re
import shutil
import tempfile
from pathlib import Path

import numpy as np
from scipy import sparse

from colgen.certificate.checker_files import UnreadError, text_of
from colgen.certificate.checker_models import read_model
from colgen.core.errors import InputError
from colgen.core.files import check_readable
from colgen.decomposition.reading.compact_model import CompactModel
from colgen.decomposition.reading.decomposition_files import read_blocks
from colgen.decomposition.reading.smps import read_smps
from colgen.solvers.linear.named import ModelError, NamedProgram, read_program

_ENDINGS = (".mps", ".lp")

_COMPARISON = re.compile("=?[<>](?!=)")
"""``<``, ``>``, ``=<`` and ``=>``, which HiGHS does not read; they mean ``<=`` and ``>=``."""

_TWICE = 1 << 22
"""Largest size in bytes of files that are read twice; this takes the checker's reader up to three seconds."""


def read(path: str | Path, dec: str | Path | None = None) -> CompactModel:
    r"""Return the model in a file, with the decomposition in another.

    Parameters
    ----------
    path
        A file in MPS or LP format (``.mps`` or ``.lp``, with ``.gz`` if compressed), read by HiGHS.  A core file of a
        two-stage stochastic program in SMPS (``.cor``); its scenarios, in ``.sto``, become the blocks.
    dec
        A decomposition for the model in one of GCG's formats: ``.dec``, ``.blk`` or ``.jdec``; None: the model has no
        blocks of its own, and :func:`decompose` detects some.

    Returns
    -------
    CompactModel
        The model for :func:`decompose`.

    Raises
    ------
    InputError
        If a file cannot be read, if HiGHS warns about it or reads it differently from the checker of certificates, or
        if it has semicontinuous variables, special ordered sets, indicator constraints or quadratic terms.

    Examples
    --------
    >>> lines = "max", "profit: 3 x + 2 y", "st", "room: 2 x + 3 y <= 4", "bin", "x", "y", "end"
    >>> _ = Path("plan.lp").write_text("\n".join(lines))
    >>> read("plan.lp").names
    ('x', 'y')
    """
    place = Path(path)
    if place.suffix.lower() == ".cor":
        if dec is not None:
            raise InputError(f"dec: expected None for {place}, whose blocks are its scenarios, not {dec}")
        return read_smps(place)
    suffixes = [suffix.lower() for suffix in place.suffixes]
    packed = suffixes[-1:] == [".gz"]
    ending = suffixes[-2:-1] if packed else suffixes[-1:]
    if not ending or ending[0] not in _ENDINGS:
        raise InputError(f"{place}: expected a model with the ending .mps or .lp, one of these with .gz, or .cor")
    check_readable(place)
    try:
        if packed:
            with tempfile.TemporaryDirectory() as folder:
                plain = Path(folder, place.name[:-3])
                with gzip.open(place) as source, open(plain, "wb") as target:
                    shutil.copyfileobj(source, target)
                program = _read_twice(plain)
        else:
            program = _read_twice(place)
    except ModelError as error:
        raise InputError(f"{place}: {error}") from None
    except (OSError, EOFError) as error:
        raise InputError(f"{place}: expected a file compressed by gzip: {error}") from None
    compact = CompactModel.of_program(program, place.name.removesuffix(".gz"))
    return compact if dec is None else dataclasses.replace(compact, blocks=read_blocks(Path(dec), compact))


def _read_twice(path: Path) -> NamedProgram:
    """Read a file by HiGHS; raise ModelError if the checker's reader refuses it or reads another program.

    HiGHS ignores, for example, the whole objective after the word ``maximise``, and does not end if names of rows have
    spaces.
    """
    if path.stat().st_size > _TWICE:
        return read_program(path)
    try:
        text = text_of(str(path))
        model = read_model(text, float)
    except UnreadError as error:
        raise ModelError(str(error)) from None
    plain = _COMPARISON.sub(lambda found: found[0][-1] + "=", text) if path.suffix.lower() == ".lp" else text
    if plain == text:
        named = read_program(path)
    else:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, path.name).write_text(plain, encoding="utf-8")
            named = read_program(Path(folder, path.name))
    program, places = named.program, {name: k for k, name in enumerate(model.variables)}
    entries = [(r, places[v], a) for r, (*_, terms) in enumerate(model.rows.values()) for v, a in terms.items()]
    row, column, data = zip(*entries, strict=True) if entries else ((), (), ())
    matrix = sparse.csc_array((data, (row, column)), shape=(len(model.rows), len(places)), dtype=np.float64)
    costs, lower, upper, integer = zip(*model.variables.values(), strict=True) if places else ((), (), (), ())
    sides = [(low, high) for low, high, _ in model.rows.values()]
    for what, ours, theirs in (
        ("names", (*places, *model.rows), (*named.columns, *named.rows)),
        (
            "objective",
            (model.sense == "maximize", model.offset, *costs),
            (program.maximize, program.offset, *program.costs),
        ),
        ("bounds", (*lower, *upper), (*program.lower, *program.upper)),
        ("integer variables", integer, tuple(named.integer)),
        ("sides of rows", sides, list(zip(program.row_lower, program.row_upper, strict=True))),
        ("coefficients", True, matrix.shape == program.matrix.shape and not (matrix != program.matrix).nnz),
    ):
        if ours != theirs:
            raise ModelError(f"HiGHS and the checker of certificates read different {what}")
    return named
