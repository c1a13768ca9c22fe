"""The engine on random pools of columns, held against the complete program: what it proves must be so.

:mod:`~colgen.testing.fuzz.pools` draws programs whose columns can all be written down, and ways to solve them;
:mod:`~colgen.testing.fuzz.problem` states one for column generation; :mod:`~colgen.testing.fuzz.truth` solves it
complete; :mod:`~colgen.testing.fuzz.judging` compares; :mod:`~colgen.testing.fuzz.shrinking` makes what fails small.
"""
