"""On and off: the same program, the function as it was written, and a warning where off is a surprise."""

import subprocess
import sys
import textwrap

import pytest


def run(code, **environment):
    program = textwrap.dedent(code)
    return subprocess.run(
        [sys.executable, "-W", "always", "-c", program], capture_output=True, text=True, env={**_clean(), **environment}
    )


def _clean():
    import os

    return {k: v for k, v in os.environ.items() if k not in ("CI", "CONTRACTS")} | {"PYTHONPATH": os.getcwd()}


def test_switched_off_the_function_is_the_one_that_was_written():
    code = """
        from contracts.core import contract
        def f(x): ...
        print(contract(f) is f)
    """
    assert run(code, CONTRACTS="off").stdout.strip() == "True"
    assert run(code).stdout.strip() == "False"


def test_switched_off_in_ci_warns():
    assert "ContractsOffWarning" in run("import contracts.core", CONTRACTS="off", CI="1").stderr
    assert "ContractsOffWarning" not in run("import contracts.core", CONTRACTS="off").stderr


def test_a_mistyped_switch_is_refused():
    result = run("import contracts.core", CONTRACTS="offf")
    assert "CONTRACTS: expected on or off, got 'offf'" in result.stderr


def test_a_checked_call_without_jax_arrays_does_not_import_jax():
    code = """
        import sys
        from research.tokenizers import ByteTokenizer
        ByteTokenizer().encode("a")
        print("jax" in sys.modules)
        import jax.numpy
    """
    result = run(code)
    assert result.stdout.strip() == "False", result.stderr
    assert result.returncode == 0


@pytest.mark.slow
def test_the_lowered_program_is_the_same_on_and_off():
    code = """
        import hashlib, jax, jax.numpy as jnp
        from flax import nnx
        from contracts.decoder import DecoderConfig
        from research.model import Decoder
        config = DecoderConfig(vocab_size=17, d_model=6, n_layers=2, n_heads=2, n_kv_heads=1, head_dim=4, d_ff=10)
        graph, state = nnx.split(Decoder(config, rngs=nnx.Rngs(0)))
        step = jax.jit(jax.grad(lambda s, t: nnx.merge(graph, s)(t).sum()))
        text = step.lower(state, jnp.zeros((2, 5), jnp.int32)).as_text()
        print(hashlib.sha256(text.encode()).hexdigest())
    """
    on, off = run(code, CONTRACTS="on"), run(code, CONTRACTS="off")
    assert on.returncode == 0, on.stderr
    assert on.stdout == off.stdout
