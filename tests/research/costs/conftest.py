"""`@given(config=...)` and `st.from_type(DecoderConfig)` draw any consistent decoder, up to billions of weights."""

from hypothesis import strategies as st

from contracts.decoder import DecoderConfig


def _decoder(groups: int, queries_a_group: int, half_head: int, **sizes: int) -> DecoderConfig:
    return DecoderConfig(n_heads=groups * queries_a_group, n_kv_heads=groups, head_dim=2 * half_head, **sizes)


st.register_type_strategy(
    DecoderConfig,
    st.builds(
        _decoder,
        groups=st.integers(1, 4),
        queries_a_group=st.integers(1, 4),
        half_head=st.integers(1, 64),
        vocab_size=st.integers(1, 60_000),
        d_model=st.integers(1, 4_096),
        n_layers=st.integers(1, 40),
        d_ff=st.integers(1, 16_384),
        tied=st.booleans(),
    ),
)
