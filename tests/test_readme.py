"""The README's Python runs as it stands, and its error is the one that really comes."""

import re
from pathlib import Path

import pytest

from contracts.errors import ShapeError
from contracts.laws import verify

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


@pytest.mark.parametrize("code", BLOCKS)
def test_every_python_block_runs(code, capsys):
    exec(compile(code, "README.md", "exec"), {})


@pytest.mark.needs_contracts
def test_the_error_shown_is_the_one_that_comes(capsys):
    code = next(block for block in BLOCKS if "RunningMean" in block)
    broken = code.replace("return self.out(weights @ x)", "return self.out(weights @ x)[:, :-1]")
    assert broken != code
    with pytest.raises(ShapeError) as caught:
        exec(compile(broken, "my_mixer.py", "exec"), {"__name__": "my_mixer"})
    shown = re.search(r"```text\n(Mixer broken.*?)```", README, flags=re.DOTALL)
    assert shown is not None
    assert _without_lines(str(caught.value)) == _without_lines(shown[1].strip())


def _without_lines(message):
    """Line numbers may move."""
    return re.sub(r"\.py:\d+", ".py", message)


@pytest.mark.slow
def test_the_two_lines_that_mend_the_mixer_mend_it():
    code = next(block for block in BLOCKS if "RunningMean" in block)
    lines = re.search(r"```text\n(        if segments is not None:\n.*?)```", README, flags=re.DOTALL)
    assert lines is not None
    mended = code.replace("        weights =", f"{lines[1]}        weights =")
    for source, outcome in ((code, ["segment-isolation"]), (mended, [])):
        namespace: dict = {"__name__": "my_mixer"}
        exec(compile(source, "my_mixer.py", "exec"), namespace)
        report = verify(namespace["make_decoder"](), only=("segment-isolation",))
        assert [broken.law for broken in report.broken] == outcome
