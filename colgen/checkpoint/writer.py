"""Writes checkpoints of a run as it goes on."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from threading import Thread
from typing import Any

from numpy.typing import NDArray

from colgen.bounding.run import Run
from colgen.checkpoint.columns import ColumnWriter, Plainly, row_data, write_solution
from colgen.checkpoint.file import FORMAT, Checkpoint, versions
from colgen.core.decision_data import DecisionWriter
from colgen.core.duals import Duals
from colgen.core.errors import InputError
from colgen.core.serialization import as_plain, digest_of, parts_of, write_parts
from colgen.master.linear_master import as_linear
from colgen.master.protocol import RestrictedMaster
from colgen.tree.branch_and_price import BranchAndPrice
from colgen.tree.node import Node
from colgen.tree.node_data import PathWriter, node_data
from colgen.tree.open_tree import OpenTree

_SHARE = 0.01
"""The share of a run's time that writing may take: where it takes longer, checkpoints are that much rarer."""

_LARGEST_COPY = 1 << 26
"""Bytes of a checkpoint that is copied, so that the run goes on while it is written."""

_Array = NDArray[Any]


class Keeper:
    """Looks at the clock between rounds and nodes, and writes a checkpoint when one is due.

    The first is written at once, so that what cannot be written is refused before there is anything to lose.  Of later
    ones the run waits for what they say alone: a thread hands them to the disk, which takes several times as long.

    Parameters
    ----------
    digest
        Of the instance.
    plainly
        Makes plain data of a column's structure.
    alone
        Whether this restricted master has all rows that bounds rest on.

    Raises
    ------
    InputError
        If a branching rule or reduction does not say what decisions it makes.
    """

    def __init__(
        self,
        saving: Checkpoint,
        digest: str,
        plainly: Plainly,
        search: BranchAndPrice,
        relaxation: bool,
        alone: bool = True,
    ) -> None:
        self._alone = alone
        self._saving, self._digest, self._search, self._relaxation = saving, digest, search, relaxation
        self._run: Run = search.run
        self.writer = DecisionWriter([*search.search.branching, *search.search.reductions])
        self._columns = ColumnWriter("columns", plainly)
        self._plainly = plainly
        self._rows: list[Any] = []
        self._paths = PathWriter(self.writer)
        self._due = 0.0
        self._tree: OpenTree | None = None
        self._master_digest = master_digest(search.master)
        self.written = 0
        self.most_apart = self.seconds = 0.0
        self._last: float | None = None
        self._writing: Thread | None = None
        self._failed: BaseException | None = None

    def watch(self, tree: OpenTree) -> None:
        """Begin: ``tree`` is what is left to be searched, at any time."""
        self._tree = tree
        self._run.watch = self.look
        tree.admit = self._admit

    def _admit(self, nodes: Sequence[Node]) -> None:
        """Refuse decisions that cannot be written when the first of them is made, not when it is to be written."""
        for node in nodes:
            for decision in node.path.own:
                self.writer.try_once(decision)

    def look(self) -> None:
        """Write if it is time to, and the disk has the last one."""
        if time.monotonic() >= self._due and (self._writing is None or not self._writing.is_alive()):
            self.write(beside=True)

    def close(self) -> None:
        """Write the last one."""
        self._run.watch = None
        if self._tree is not None:
            self.write()

    def write(self, *, beside: bool = False) -> None:
        """Write a checkpoint now; ``beside``: the run goes on before the disk has it, if there is one already."""
        begun = time.monotonic()
        with self._run.stage("checkpoint"):
            self._settle()
            parts = parts_of(FORMAT, *self._state())
            small = sum(map(len, parts)) <= _LARGEST_COPY
            taken = time.monotonic() - begun
            if beside and small and self.written:
                self._writing = Thread(target=self._write, args=(list(map(bytes, parts)),), name="colgen-checkpoint")
                self._writing.start()
            else:
                self._write(parts)
                self._settle()
        ended = time.monotonic()
        self.written += 1
        self.seconds += ended - begun
        if self._last is not None:
            self.most_apart = max(self.most_apart, ended - self._last)
        self._last = begun
        # In time to be there when it is due, as the last one lasted; rarer where the run has to wait for long.
        lasted = taken if small else ended - begun
        self._due = begun + max(self._saving.every - lasted, lasted / _SHARE)

    def _write(self, parts: Sequence[bytes | memoryview[int]]) -> None:
        try:
            write_parts(self._saving.path, parts, keep=True)
        except BaseException as error:
            self._failed = error

    def _settle(self) -> None:
        """Wait for the disk; whatever failed there is raised here."""
        if self._writing is not None:
            self._writing.join()
            self._writing = None
        failed, self._failed = self._failed, None
        if failed is not None:
            raise failed

    # --- what is written ---------------------------------------------------------------------------------------------

    def _state(self) -> tuple[dict[str, Any], dict[str, _Array]]:
        run, search, tree = self._run, self._search, self._tree
        assert tree is not None
        nodes = tree.unfinished()
        if self._relaxation:
            nodes = [
                Node(bound=run.sense.ideal)
            ]  # what is wanted is its solution: it is solved again, with all columns
        links, listed = self._paths.data([node.path for node in nodes])
        said: dict[str, Any] = {
            "versions": versions(),
            "asked": dict(self._saving.asked),
            "digest": self._digest,
            "master": self._master_digest,
            "relaxation": self._relaxation,
            "seconds": run.seconds + run.seconds_before,
            "global_bound": run.global_bound,
            "root_bound": search.root_bound,
            "lost": run.sense.hopeless if self._relaxation else tree.lost_outside(nodes),
            "why_lost": None if tree.why_lost is None else tree.why_lost.name,
            "treated": tree.treated,
            "compares": tree.checks_children and self._alone,
            "next_number": tree.next_number,
            "generated": [run.columns_generated, run.rows_generated],
            "incumbent": None,
            "columns": None,
            "links": links,
            "nodes": [node_data(node, link) for node, link in zip(nodes, listed, strict=True)],
            "rows": self._separated(search.master),
            "pseudo_costs": search.costs.as_plain(),
        }
        arrays: dict[str, _Array] = {}
        if run.incumbent is not None:
            said["incumbent"], arrays = write_solution("incumbent", run.incumbent, self._plainly)
        master = as_linear(search.master)
        if master is not None:
            said["columns"], columns = self._columns.write(master.columns, master.rows.names.keys)
            arrays |= columns | {"columns.origins": master.origins}
        self._add_duals(said, arrays)
        return said, arrays

    def _separated(self, master: RestrictedMaster) -> list[Any]:
        rows = () if master.rows is None else master.rows.joined
        self._rows += [row_data(row) for row in rows[len(self._rows) :]]
        return self._rows

    def _add_duals(self, said: dict[str, Any], arrays: dict[str, _Array]) -> None:
        """The last dual values: of a linear master row by row, of others if they are plain data."""
        duals = self._search.bounds.last_duals
        said["duals"] = None
        if isinstance(duals, Duals):
            arrays["duals"] = duals.values
        elif duals is not None:
            with contextlib.suppress(InputError):
                said["duals"] = as_plain(duals, "dual values")


def master_digest(master: RestrictedMaster) -> str:
    """What tells the restricted master of one formulation from that of another."""
    linear = as_linear(master)
    if linear is None:
        return type(master).__name__
    f = linear.formulation
    data = [repr(f.row_keys), repr(f.column_keys), f.row_lower, f.row_upper, f.costs, f.matrix, f.offset, f.sense.name]
    return digest_of(data, "the restricted master")
