"""Small torch models of the kinds that people train, with a batch for each."""

from __future__ import annotations

import torch


def mlp():
    net = torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))
    return net, torch.nn.CrossEntropyLoss(), (torch.randn(12, 5), torch.randint(0, 3, (12,)))


def convolution():
    """With batch norm and dropout."""
    net = torch.nn.Sequential(
        torch.nn.Conv2d(1, 3, 3), torch.nn.BatchNorm2d(3), torch.nn.GELU(), torch.nn.Dropout(0.3),
        torch.nn.Flatten(), torch.nn.Linear(3 * 16, 2),
    )  # fmt: skip
    return net, torch.nn.CrossEntropyLoss(), (torch.randn(8, 1, 6, 6), torch.randint(0, 2, (8,)))


class Encoder(torch.nn.Module):
    """torch's own transformer layer, whose fused attention has no second derivative."""

    def __init__(self):
        super().__init__()
        layer = torch.nn.TransformerEncoderLayer(8, 2, 16, 0.1, batch_first=True)
        self.body = torch.nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.head = torch.nn.Linear(8, 2)

    def forward(self, x):
        return self.head(self.body(x)).mean(1)


def encoder():
    return Encoder(), torch.nn.MSELoss(), (torch.randn(4, 5, 8), torch.randn(4, 2))


def language_model():
    """GPT-2 of transformers, with a loss of its own."""
    import pytest

    transformers = pytest.importorskip("transformers")
    config = transformers.GPT2Config(vocab_size=17, n_positions=8, n_embd=8, n_layer=1, n_head=2)
    net = transformers.GPT2LMHeadModel(config)
    tokens = torch.randint(0, 17, (3, 6))
    return net, None, {"input_ids": tokens, "labels": tokens}


KINDS = {"mlp": mlp, "convolution": convolution, "encoder": encoder, "gpt2": language_model}


def made(kind: str):
    torch.manual_seed(0)
    return KINDS[kind]()
