"""Settings of a run in words."""

import pickle

from colgen.core.run_settings import RunSettings


def test_texts_are_computed_once_when_first_read():
    calls = []

    def describe():
        calls.append(1)
        return {"problem": "CuttingStock", "stop_rules": "none"}

    settings = RunSettings(describe)
    assert not calls
    assert settings["problem"] == "CuttingStock"
    assert dict(settings) == {"problem": "CuttingStock", "stop_rules": "none"}
    assert (len(settings), repr(settings), len(calls)) == (2, repr(dict(settings)), 1)
    assert pickle.loads(pickle.dumps(settings)) == dict(settings)  # although the function cannot be pickled
