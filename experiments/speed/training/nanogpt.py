"""nanoGPT's architecture (github.com/karpathy/nanoGPT) in PyTorch, written anew: its parts, its optimizer, its step."""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, gelu, layer_norm, scaled_dot_product_attention

from experiments.speed.training.candidates import BETAS, CLIP_NORM, PEAK_LEARNING_RATE, WEIGHT_DECAY, Train
from experiments.speed.training.question import Shape


class Norm(nn.Module):
    """A layer norm without a bias."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        return layer_norm(x, self.scale.shape, self.scale)


class Layer(nn.Module):
    """Attention and an MLP, each after a norm and added to what it read."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width = shape.d_model
        self.n_heads = shape.n_heads
        self.attention_norm, self.mlp_norm = Norm(width), Norm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.up, self.down = nn.Linear(width, 4 * width, bias=False), nn.Linear(4 * width, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.out(self.mix(self.attention_norm(x)))
        return x + self.down(gelu(self.up(self.mlp_norm(x))))

    def mix(self, x: Tensor) -> Tensor:
        """Causal attention by PyTorch's own kernel."""
        queries, keys, values = (
            part.view(*x.shape[:2], self.n_heads, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1)
        )
        return scaled_dot_product_attention(queries, keys, values, is_causal=True).transpose(1, 2).reshape(x.shape)


class NanoGPT(nn.Module):
    """Tokens to logits."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.tokens = nn.Embedding(shape.vocab_size, shape.d_model)
        self.positions = nn.Embedding(shape.length, shape.d_model)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.n_layers))
        self.norm = Norm(shape.d_model)
        for parameter in self.parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1], device=tokens.device))
        for layer in self.layers:
            x = layer(x)
        return self.norm(x) @ self.tokens.weight.T


def make(shape: Shape, windows: np.ndarray) -> Train:
    """Ready to run; nothing compiles. Its AdamW is the stock one, its matrices alone decay."""
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = NanoGPT(shape).to(device)
    matrices, others = ([p for p in model.parameters() if (p.dim() == 2) is is_matrix] for is_matrix in (True, False))
    groups = [{"params": matrices, "weight_decay": WEIGHT_DECAY}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=PEAK_LEARNING_RATE, betas=BETAS)
    ids = torch.from_numpy(windows.astype(np.int64)).to(device)
    half = torch.autocast(device, torch.bfloat16, enabled=shape.dtype == "bfloat16")

    def train(steps: int) -> float:
        for _ in range(steps):
            with half:
                logits = model(ids[:, :-1])
                loss = cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), CLIP_NORM)
            optimizer.step()
        return float(loss.detach())

    return train
