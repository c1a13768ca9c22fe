"""Writes certificates and reads them back: what is told of one is what the checker has found in its file."""

from __future__ import annotations

import os
from pathlib import Path

from colgen.certificate.certifier import Certifier
from colgen.certificate.checker import check
from colgen.certificate.checker_files import lines_of
from colgen.certificate.checker_pricing import WrongError
from colgen.certificate.witness import Witness
from colgen.certificate.writing import Ended, Written, write_certificate


def write_verified(path: Path | str, certifier: Certifier, witness: Witness, ended: Ended) -> tuple[Written, list[str]]:
    """Write what a run has proved, and check the file; also what to tell of it.

    Nothing that fails here costs the run's answer.  Where a certifier fails, or the checker refuses what it has
    written, the certificate names the answer and asks to be trusted.
    """
    try:
        return _verified(path, certifier, witness, ended)
    except OSError as error:
        return Written(), [f"The certificate could not be written: {error}."]
    except KeyboardInterrupt:
        return Written(), ["The certificate was not finished: interrupted."]
    except WrongError as error:
        fault = f"the checker refuses line {error.line}: {error}"
    except Exception as error:  # of a certifier, which may be anybody's
        fault = f"{type(error).__name__}: {error}"
    try:
        written, notes = _verified(path, Certifier(ended.sense, str(certifier.name)), Witness(), ended)
    except (Exception, KeyboardInterrupt) as error:
        return Written(), [f"The certificate could not be written: {fault}; then {type(error).__name__}: {error}."]
    return written, [f"No proof could be written down, so that the certificate asks to be trusted ({fault}).", *notes]


def _verified(path: Path | str, certifier: Certifier, witness: Witness, ended: Ended) -> tuple[Written, list[str]]:
    written = write_certificate(path, certifier, witness, ended)
    told = f"The certificate has {written.leaves} leaves; {written.trusted} claims are trusted"
    if not os.path.isfile(path):  # a stream cannot be read back
        return written, [f"{told}."]
    verdict = check(lines_of(str(path)))
    if (verdict.leaves, verdict.claims.trusted) != (written.leaves, written.trusted):
        counts = f"{verdict.leaves} leaves and {verdict.claims.trusted} claims that are trusted"
        raise WrongError(f"the checker counts {counts}, not {written.leaves} and {written.trusted}")
    return written, [f"{told}. It was read back and checked."]
