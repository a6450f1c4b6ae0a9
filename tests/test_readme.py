"""The README's Python runs as it stands, and its error is the one that really comes."""

import re
from pathlib import Path

import pytest

from contracts.errors import ShapeError

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


@pytest.mark.parametrize("code", BLOCKS)
def test_every_python_block_runs(code, capsys):
    exec(compile(code, "README.md", "exec"), {})


def test_the_error_shown_is_the_one_that_comes(capsys):
    code = next(block for block in BLOCKS if "RunningMean" in block)
    broken = re.sub(r"(return self\.out\(.*\))\n", r"\1[:, :-1]\n", code)
    assert broken != code
    with pytest.raises(ShapeError) as caught:
        exec(compile(broken, "my_mixer.py", "exec"), {"__name__": "my_mixer"})
    shown = re.search(r"```text\n(Mixer broken.*?)```", README, flags=re.DOTALL)
    assert shown is not None
    assert _without_lines(str(caught.value)) == _without_lines(shown[1].strip())


def _without_lines(message):
    """Line numbers may move."""
    return re.sub(r"\.py:\d+", ".py", message)
