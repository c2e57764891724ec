"""A watched loop ends with the weights of an unwatched one, bit for bit."""

from __future__ import annotations

import pytest
import torch

import dynascope

from .models import KINDS, made

pytestmark = pytest.mark.slow  # torch is installed for make test-all alone


def trained(kind: str, watched: bool):
    net, loss, batch = made(kind)
    optimizer = torch.optim.AdamW(net.parameters(), 1e-2)
    watch = None
    if watched:
        watch = dynascope.watch(
            net, loss, every=2, budget=1e9, preset="full", optimizer=optimizer, store=None
        )
    torch.manual_seed(1)
    for _ in range(6):
        optimizer.zero_grad()
        value = net(**batch).loss if loss is None else loss(net(batch[0]), batch[1])
        value.backward()
        optimizer.step()
        if watch is not None:
            modes = [m.training for m in net.modules()]
            gradients = [p.grad.clone() for p in net.parameters()]
            watch(value, batch=batch)
            assert [m.training for m in net.modules()] == modes
            assert all(torch.equal(p.grad, g) for p, g in zip(net.parameters(), gradients))
    return net, watch


@pytest.mark.parametrize("kind", KINDS)
def test_weights_and_buffers_are_the_same(kind):
    (plain, _), (seen, watch) = trained(kind, False), trained(kind, True)
    assert watch.dataset()["sharpness"].count() == 3
    state, other = plain.state_dict(), seen.state_dict()
    assert all(torch.equal(state[name], other[name]) for name in state)


def test_half_precision_is_probed_in_float32():
    net, loss, (x, y) = made("mlp")
    full = dynascope.watch(net, loss, store=None, preset="light")
    full(1.0, batch=(x, y), learning_rate=0.1)
    net.bfloat16()
    rounded = torch.nn.Sequential(*net).bfloat16()
    half = dynascope.watch(rounded, loss, store=None, preset="light")
    half(1.0, batch=(x.bfloat16(), y), learning_rate=0.1)
    want = float(full.dataset()["sharpness"][0])
    assert float(half.dataset()["sharpness"][0]) == pytest.approx(want, rel=0.05)
    assert {p.dtype for p in rounded.parameters()} == {torch.bfloat16}


def test_autocast_of_the_loop_goes_on():
    net, loss, batch = made("mlp")
    watch = dynascope.watch(net, loss, store=None)
    with torch.autocast("cpu", torch.bfloat16):
        watch(1.0, batch=batch, learning_rate=0.1)
        assert torch.is_autocast_enabled("cpu")
        assert net(batch[0]).dtype == torch.bfloat16
    assert watch.errors == []


def test_a_loop_with_autocast_dropout_and_batch_norm_ends_the_same():
    """Weights, statistics of batch norm and the random numbers that come next, bit for bit."""

    def ended(watched: bool):
        net, loss, batch = made("convolution")
        optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
        watch = dynascope.watch(
            net, loss, every=1, budget=1e9, preset="full", optimizer=optimizer, store=None
        )
        torch.manual_seed(1)
        for _ in range(4):
            optimizer.zero_grad()
            with torch.autocast("cpu", torch.bfloat16):
                value = loss(net(batch[0]), batch[1])
                if watched:
                    watch(value, batch=batch)
            value.backward()
            optimizer.step()
        assert not watched or watch.errors == []
        return net.state_dict(), torch.get_rng_state()

    (plain, numbers), (seen, others) = ended(False), ended(True)
    assert plain.keys() == seen.keys() and torch.equal(numbers, others)
    assert all(torch.equal(plain[name], seen[name]) for name in plain)
