"""What a target costs under the logits, in nats: the one number that training lowers and evaluation reports."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float32

from contracts.core import contract
from contracts.decoder import Logits, Tokens

Nats = Float32[Array, "B T"]


@contract
def token_nats(logits: Logits, targets: Tokens) -> Nats:
    """-ln p(target) at each position: logsumexp(logits) - logits[target], in float32.

    A target outside the vocabulary can't be seen here: ids are checked on the host (`check_tokens`).
    """
    chosen = jnp.take_along_axis(logits, targets[:, :, None], axis=-1)[:, :, 0]
    return jax.nn.logsumexp(logits, axis=-1) - chosen
