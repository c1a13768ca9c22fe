"""The engine on random pools of columns, held against the complete program: what it proves must be so.

:mod:`~colgen.fuzz.pools` draws programs whose columns can all be written down, and ways to solve them;
:mod:`~colgen.fuzz.problem` states one for column generation; :mod:`~colgen.fuzz.truth` solves it complete;
:mod:`~colgen.fuzz.judging` compares; :mod:`~colgen.fuzz.shrinking` makes what fails small.
"""
