"""A small transformer of PyTorch, trained by Adam to repeat the token before the last."""

import torch

import dynascope

torch.manual_seed(0)


class Repeater(torch.nn.Module):
    """Tokens to the logits of the next one."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = torch.nn.Embedding(16, 32)
        self.places = torch.nn.Parameter(torch.randn(8, 32) / 8)
        layer = torch.nn.TransformerEncoderLayer(32, 2, 64, dropout=0.1, batch_first=True)
        self.body = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = torch.nn.Linear(32, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits for the last place."""
        return self.head(self.body(self.tokens(x) + self.places)[:, -1])


model, loss = Repeater(), torch.nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
with dynascope.watch(model, loss, optimizer=optimizer, label="torch-transformer") as watch:
    for _ in range(300):
        x = torch.randint(0, 16, (64, 8))
        y = x[:, -2]
        optimizer.zero_grad()
        value = loss(model(x), y)
        value.backward()
        optimizer.step()
        watch(value, batch=(x, y))
print(watch.summary())
