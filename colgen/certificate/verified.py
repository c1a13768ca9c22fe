"""Writing certificates and checking the written file."""

from __future__ import annotations

import os
from pathlib import Path

from colgen.certificate.certifier import Certifier
from colgen.certificate.checker import check
from colgen.certificate.checker_files import lines_of
from colgen.certificate.checker_pricing import WrongError
from colgen.certificate.witness import Witness
from colgen.certificate.writing import CertificateCounts, FinishedRun, write_certificate
from colgen.core.text import plural


def write_verified(
    path: Path | str, certifier: Certifier, witness: Witness, run: FinishedRun
) -> tuple[CertificateCounts, list[str]]:
    """Write a certificate of a run, and check the file. Return the counts and notes about it.

    No failure here affects the result of the run. If a certifier fails, or the checker refuses the file, a certificate
    is written that only names the answer and is trusted.
    """
    try:
        return _write_and_check(path, certifier, witness, run)
    except OSError as error:
        return CertificateCounts(), [f"The certificate could not be written: {error}."]
    except KeyboardInterrupt:
        return CertificateCounts(), ["The certificate was not finished: interrupted."]
    except WrongError as error:
        fault = f"the checker refuses line {error.line}: {error}"
    except Exception as error:  # certifiers of users may raise anything
        fault = f"{type(error).__name__}: {error}"
    try:
        counts, notes = _write_and_check(path, Certifier(run.sense, str(certifier.name)), Witness(), run)
    except (Exception, KeyboardInterrupt) as error:
        return CertificateCounts(), [
            f"The certificate could not be written: {fault}; then {type(error).__name__}: {error}."
        ]
    return counts, [f"The proof could not be written, so all claims are trusted ({fault}).", *notes]


def _write_and_check(
    path: Path | str, certifier: Certifier, witness: Witness, run: FinishedRun
) -> tuple[CertificateCounts, list[str]]:
    counts = write_certificate(path, certifier, witness, run)
    trusted = plural(counts.trusted, "claim is trusted", "claims are trusted")
    text = f"The certificate has {plural(counts.leaves, 'leaf', 'leaves')}; {trusted}"
    if not os.path.isfile(path):  # a stream cannot be read back
        return counts, [f"{text}."]
    verdict = check(lines_of(str(path)))
    if (verdict.leaves, verdict.claims.trusted) != (counts.leaves, counts.trusted):
        raise WrongError(
            f"the checker counts {plural(verdict.leaves, 'leaf', 'leaves')} and "
            f"{plural(verdict.claims.trusted, 'trusted claim')}, "
            f"not {counts.leaves} and {counts.trusted}"
        )
    return counts, [f"{text}. The file was checked."]
