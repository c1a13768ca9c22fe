"""Writing checkpoints during a run."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from threading import Thread
from typing import Any

from numpy.typing import NDArray

from colgen.bounding.run import Run
from colgen.checkpoint.columns import ColumnWriter, Converter, row_data, write_solution
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
"""Maximum share of the time of a run for writing. Checkpoints are less frequent if they take longer."""

_LARGEST_COPY = 1 << 26
"""Maximum size in bytes of a checkpoint that is copied, so that the run continues during writing."""

_Array = NDArray[Any]


class CheckpointWriter:
    """Writes a checkpoint when one is due, between rounds and nodes.

    The first is written at once, so that data that cannot be written cause an error before work is lost. For later ones
    the run only waits until their contents are collected. A thread writes them to the disk, which takes several times
    as long. ``alone`` states whether this restricted master has all rows that bounds depend on.
    """

    def __init__(
        self,
        saving: Checkpoint,
        digest: str,
        to_plain: Converter,
        search: BranchAndPrice,
        relaxation: bool,
        alone: bool = True,
    ) -> None:
        self._alone = alone
        self._saving, self._digest, self._search, self._relaxation = saving, digest, search, relaxation
        self._run: Run = search.run
        self.decisions = DecisionWriter([*search.search.branching, *search.search.reductions])
        self._columns = ColumnWriter("columns", to_plain)
        self._to_plain = to_plain
        self._rows: list[Any] = []
        self._paths = PathWriter(self.decisions)
        self._due = 0.0
        self._tree: OpenTree | None = None
        self._master_digest = master_digest(search.master)
        self._has_written = False
        self._writing: Thread | None = None
        self._failed: BaseException | None = None

    def watch(self, tree: OpenTree) -> None:
        """Start to write checkpoints of a tree."""
        self._tree = tree
        self._run.watch = self.look
        tree.admit = self._admit

    def _admit(self, nodes: Sequence[Node]) -> None:
        """Raise an error for decisions that cannot be written when they are made, not when they are written."""
        for node in nodes:
            for decision in node.path.own:
                self.decisions.try_once(decision)

    def look(self) -> None:
        """Write a checkpoint if one is due and the last one is on the disk."""
        if time.monotonic() >= self._due and (self._writing is None or not self._writing.is_alive()):
            self.write(in_background=True)

    def close(self) -> None:
        """Write the last checkpoint."""
        self._run.watch = None
        if self._tree is not None:
            self.write()

    def write(self, *, in_background: bool = False) -> None:
        """Write a checkpoint; ``in_background``: return before it is on the disk, unless it is the first or large."""
        begun = time.monotonic()
        with self._run.stage("checkpoint"):
            self._wait()
            parts = parts_of(FORMAT, *self._state())
            small = sum(map(len, parts)) <= _LARGEST_COPY
            taken = time.monotonic() - begun
            if in_background and small and self._has_written:
                self._writing = Thread(target=self._write, args=(list(map(bytes, parts)),), name="colgen-checkpoint")
                self._writing.start()
            else:
                self._write(parts)
                self._wait()
        self._has_written = True
        # Start early enough to finish when due; less often if writing takes long.
        lasted = taken if small else time.monotonic() - begun
        self._due = begun + max(self._saving.every - lasted, lasted / _SHARE)

    def _write(self, parts: Sequence[bytes | memoryview[int]]) -> None:
        try:
            write_parts(self._saving.path, parts, keep=True)
        except BaseException as error:
            self._failed = error

    def _wait(self) -> None:
        """Wait until the last checkpoint is on the disk, and raise its error."""
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
            nodes = [Node(bound=run.sense.ideal)]  # the relaxation is solved again with all columns
        links, ends = self._paths.data([node.path for node in nodes])
        fields: dict[str, Any] = {
            "versions": versions(),
            "asked": dict(self._saving.asked),
            "digest": self._digest,
            "master": self._master_digest,
            "relaxation": self._relaxation,
            "seconds": run.seconds + run.seconds_before,
            "processor_seconds": run.processor_seconds + run.processor_before,
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
            "nodes": [node_data(node, link) for node, link in zip(nodes, ends, strict=True)],
            "rows": self._row_data(search.master),
            "pseudo_costs": search.costs.as_plain(),
        }
        arrays: dict[str, _Array] = {}
        if run.incumbent is not None:
            fields["incumbent"], arrays = write_solution("incumbent", run.incumbent, self._to_plain)
        master = as_linear(search.master)
        if master is not None:
            fields["columns"], columns = self._columns.write(master.columns, master.rows.names.keys)
            arrays |= columns | {"columns.origins": master.origins}
        self._add_duals(fields, arrays)
        return fields, arrays

    def _row_data(self, master: RestrictedMaster) -> list[Any]:
        rows = () if master.rows is None else master.rows.joined
        self._rows += [row_data(row) for row in rows[len(self._rows) :]]
        return self._rows

    def _add_duals(self, fields: dict[str, Any], arrays: dict[str, _Array]) -> None:
        """Add the last dual values: by row for a linear master, otherwise if they are plain data."""
        duals = self._search.bounds.last_duals
        fields["duals"] = None
        if isinstance(duals, Duals):
            arrays["duals"] = duals.values
        elif duals is not None:
            with contextlib.suppress(InputError):
                fields["duals"] = as_plain(duals, "dual values")


def master_digest(master: RestrictedMaster) -> str:
    """Return a digest of the restricted master, to tell formulations apart."""
    linear = as_linear(master)
    if linear is None:
        return type(master).__name__
    f = linear.formulation
    data = [repr(f.row_keys), repr(f.column_keys), f.row_lower, f.row_upper, f.costs, f.matrix, f.offset, f.sense.name]
    return digest_of(data, "the restricted master")
