"""The largest axis that the devices divide is sharded; an array of which none divides is whole on each device."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.decoder import DecoderConfig
from experiments.contracts.mesh import layout, placements

CONFIG = DecoderConfig()


@given(st.integers(2, 256))
def test_a_vocabulary_of_257_never_shards(devices):
    for placement in placements(CONFIG, devices):
        if "V" in placement.parameter.axes:
            assert placement.axis != placement.parameter.axes.index("V")


def test_one_device_holds_everything():
    held = sum(placement.bytes_of_a_device(1) for placement in placements(CONFIG, 1))
    assert held == 4 * 6_426_368


@pytest.mark.parametrize("scan_layers", [True, False])
def test_what_a_device_holds_is_a_share_of_what_divides_and_all_of_the_rest(scan_layers):
    config = dataclasses.replace(CONFIG, scan_layers=scan_layers)
    assert sum(placement.bytes_of_a_device(8) for placement in placements(config, 8)) == 4 * 6_426_368 // 8
    assert sum(placement.bytes_of_a_device(7) for placement in placements(config, 7)) == 4 * 6_426_368


def test_a_line_says_what_does_not_divide():
    lines = layout(CONFIG, 8)
    assert "embed.embedding [257, 256]: D = 256 over 8; V = 257 does not divide" in lines
    assert "norm.scale [256]: D = 256 over 8" in lines
    assert lines[-1] == "3.21 MB of parameters on each device, of 25.7 MB"
    assert "head.kernel [256, 257]: replicated, D = 256, V = 257 do not divide" in layout(CONFIG, 7)
