"""Models in MPS and LP files, read by HiGHS, with decompositions in GCG's formats."""

from __future__ import annotations

import dataclasses
import gzip
import shutil
import tempfile
from pathlib import Path

from colgen.core.errors import InputError
from colgen.core.files import check_readable
from colgen.decomposition.reading.compact_model import CompactModel
from colgen.decomposition.reading.decomposition_files import read_blocks
from colgen.decomposition.reading.smps import read_smps
from colgen.solvers.linear.named import ModelError, read_program

_ENDINGS = (".mps", ".lp")


def read(path: str | Path, dec: str | Path | None = None) -> CompactModel:
    """Return the model in a file, with the decomposition in another.

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
        If a file cannot be read, if HiGHS warns about it, or if it has semicontinuous variables, special ordered sets,
        indicator constraints or quadratic terms.
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
                program = read_program(plain)
        else:
            program = read_program(place)
    except ModelError as error:
        raise InputError(f"{place}: {error}") from None
    except (OSError, EOFError) as error:
        raise InputError(f"{place}: expected a file compressed by gzip: {error}") from None
    compact = CompactModel.of_program(program, place.name.removesuffix(".gz"))
    return compact if dec is None else dataclasses.replace(compact, blocks=read_blocks(Path(dec), compact))
