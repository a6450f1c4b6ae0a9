"""A log after a kill: whole lines up to the checkpoint, no other."""

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import InputError
from research.train.log import StepLog, read_log


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.data())
def test_a_log_that_was_cut_anywhere_goes_on_from_the_checkpoint(tmp_path_factory, gaps, data):
    steps = [sum(gaps[: index + 1]) for index in range(len(gaps))]
    whole = b"".join(json.dumps({"step": step}).encode() + b"\n" for step in steps)
    path = tmp_path_factory.mktemp("log") / "metrics.jsonl"
    checkpoint = data.draw(st.integers(0, steps[-1]))
    needed = sum(len(json.dumps({"step": step})) + 1 for step in steps if step <= checkpoint)
    path.write_bytes(whole[: data.draw(st.integers(needed, len(whole)))])
    log = StepLog(path, checkpoint)
    for step in steps:
        if step > checkpoint:
            log.write({"step": step})
    log.commit()
    log.close()
    assert path.read_bytes() == whole


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_disk_that_is_full_is_told_in_a_line_that_names_the_log_and_how_to_go_on(tmp_path):
    log = StepLog(tmp_path / "run.jsonl", 0)
    log._file.close()
    log._file = open("/dev/full", "wb")  # noqa: SIM115 - closed by the log
    log.write({"step": 1})
    for use in (log.commit, log.flush, log.close):
        with pytest.raises(InputError, match=r"run.jsonl, got No space left on device; .*bytebound train --resume"):
            use()


def test_a_line_that_is_being_written_is_not_read(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 1}\n{"st')
    assert read_log(path) == [{"step": 1}]
    with pytest.raises(InputError, match="expected a readable file"):
        read_log(tmp_path / "none")
