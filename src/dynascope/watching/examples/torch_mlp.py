"""A PyTorch network trained by full-batch descent: sharpness climbs to 2 / learning rate."""

import torch

import dynascope

torch.manual_seed(0)
x = torch.randn(128, 20)
y = torch.sin(2 * x[:, :1]) * x[:, 1:2]
model = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1))
loss = torch.nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.4)

with dynascope.watch(model, loss, every=8, optimizer=optimizer, label="torch-mlp") as watch:
    for _ in range(1000):
        optimizer.zero_grad()
        value = loss(model(x), y)
        value.backward()
        optimizer.step()
        watch(value, batch=(x, y))
print(watch.summary())
