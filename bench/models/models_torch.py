"""The twelve models of models.h as a user of PyTorch writes them, with the same names of parameters."""

import math

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import nn


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(784, 512), nn.Linear(512, 512), nn.Linear(512, 10)

    def forward(self, x):
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5, padding=2), nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.fc3 = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)

    def forward(self, x):
        x = F.avg_pool2d(torch.tanh(self.conv1(x)), 2)
        x = F.avg_pool2d(torch.tanh(self.conv2(x)), 2)
        return self.fc3(torch.tanh(self.fc2(torch.tanh(self.fc1(x.flatten(1))))))


class Residual(nn.Module):
    def __init__(self, into, out):
        super().__init__()
        self.conv1 = nn.Conv2d(into, out, 3, 1 if into == out else 2, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(out)
        self.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(out)
        self.shortcut = None if into == out else nn.Conv2d(into, out, 1, 2, bias=False)

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + (self.shortcut(x) if self.shortcut else x))


class ResNet20(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.norm = nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16)
        widths = [16, 16, 16, 16, 32, 32, 32, 64, 64, 64]
        self.blocks = nn.ModuleList(Residual(a, b) for a, b in zip(widths, widths[1:]))
        self.out = nn.Linear(64, 10)

    def forward(self, x):
        x = F.relu(self.norm(self.stem(x)))
        for block in self.blocks:
            x = block(x)
        return self.out(F.adaptive_avg_pool2d(x, 1).flatten(1))


class Separable(nn.Module):
    def __init__(self, into, out, stride):
        super().__init__()
        self.depthwise = nn.Conv2d(into, into, 3, stride, 1, groups=into, bias=False)
        self.bn1 = nn.BatchNorm2d(into)
        self.pointwise = nn.Conv2d(into, out, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(out)

    def forward(self, x):
        return F.relu6(self.bn2(self.pointwise(F.relu6(self.bn1(self.depthwise(x))))))


class DepthwiseCnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 32, 3, 1, 1)
        self.blocks = nn.ModuleList(Separable(*shape) for shape in ((32, 64, 1), (64, 64, 2), (64, 128, 1), (128, 128, 2)))
        self.out = nn.Linear(128, 10)

    def forward(self, x):
        x = F.relu6(self.stem(x))
        for block in self.blocks:
            x = block(x)
        return self.out(F.adaptive_avg_pool2d(x, 1).flatten(1))


class DoubleConv(nn.Module):
    def __init__(self, into, out):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(into, out, 3, 1, 1), nn.Conv2d(out, out, 3, 1, 1)

    def forward(self, x):
        return F.relu(self.conv2(F.relu(self.conv1(x))))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1, self.down2, self.bottom = DoubleConv(1, 16), DoubleConv(16, 32), DoubleConv(32, 64)
        self.left2, self.left1 = DoubleConv(64, 32), DoubleConv(32, 16)
        self.up2, self.up1 = nn.ConvTranspose2d(64, 32, 2, 2), nn.ConvTranspose2d(32, 16, 2, 2)
        self.out = nn.Conv2d(16, 1, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        c = self.bottom(F.max_pool2d(b, 2))
        d = self.left2(torch.cat((b, self.up2(c)), 1))
        return self.out(self.left1(torch.cat((a, self.up1(d)), 1)))


class CharacterModel(nn.Module):
    def __init__(self, network):
        super().__init__()
        self.embedding, self.rnn, self.out = nn.Embedding(64, 64), network(64, 256), nn.Linear(256, 64)

    def forward(self, ids):
        return self.out(self.rnn(self.embedding(ids))[0])


class Vit(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(1, 64, 4, 4)
        self.positions = nn.Parameter(torch.zeros(49, 64))
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(64, 4, 128, 0.0, "gelu", batch_first=True, norm_first=True) for _ in range(4))
        self.norm, self.out = nn.LayerNorm(64), nn.Linear(64, 10)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2) + self.positions
        for layer in self.layers:
            x = layer(x)
        return self.out(self.norm(x).mean(1))


class Vae(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.mean, self.log_variance = nn.Linear(784, 400), nn.Linear(400, 20), nn.Linear(400, 20)
        self.decoder, self.out = nn.Linear(20, 400), nn.Linear(400, 784)


def vae_loss(model, x, noise):
    h = F.relu(model.encoder(x))
    mu, log_variance = model.mean(h), model.log_variance(h)
    logits = model.out(F.relu(model.decoder(mu + noise * torch.exp(0.5 * log_variance))))
    reconstruction = F.binary_cross_entropy_with_logits(logits, x, reduction="sum")
    return (reconstruction - 0.5 * (log_variance - mu.square() - log_variance.exp() + 1).sum()) / x.shape[0]


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.BatchNorm2d(128), nn.BatchNorm2d(64)
        setattr(self, "in", nn.Linear(64, 128 * 49))
        self.up1, self.up2 = nn.ConvTranspose2d(128, 64, 4, 2, 1), nn.ConvTranspose2d(64, 1, 4, 2, 1)

    def forward(self, noise):
        x = F.relu(self.norm1(getattr(self, "in")(noise).reshape(-1, 128, 7, 7)))
        return torch.tanh(self.up2(F.relu(self.norm2(self.up1(x)))))


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 64, 4, 2, 1), nn.Conv2d(64, 128, 4, 2, 1)
        self.out = nn.Linear(128 * 49, 1)

    def forward(self, x):
        return self.out(F.leaky_relu(self.conv2(F.leaky_relu(self.conv1(x), 0.2)), 0.2).flatten(1))


def judge_loss(judge, real, made):
    of_real, of_made = judge(real), judge(made)
    return (F.binary_cross_entropy_with_logits(of_real, torch.ones_like(of_real))
            + F.binary_cross_entropy_with_logits(of_made, torch.zeros_like(of_made)))


def maker_loss(maker, judge, noise):
    score = judge(maker(noise))
    return F.binary_cross_entropy_with_logits(score, torch.ones_like(score))


class EncoderDecoder(nn.Module):
    def __init__(self):
        super().__init__()
        options = dict(dim_feedforward=256, dropout=0.0, batch_first=True)
        self.source, self.target, self.out = nn.Embedding(64, 64), nn.Embedding(64, 64), nn.Linear(64, 64)
        self.encoder = nn.ModuleList(nn.TransformerEncoderLayer(64, 4, **options) for _ in range(2))
        self.decoder = nn.ModuleList(nn.TransformerDecoderLayer(64, 4, **options) for _ in range(2))
        i = torch.arange(64)
        angles = torch.arange(32)[:, None] * 10000.0 ** (-(i - i % 2) / 64)
        self.register_buffer("positions", torch.where(i % 2 == 0, angles.sin(), angles.cos()).float(), persistent=False)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(32), persistent=False)

    def forward(self, inputs, outputs):
        memory = self.source(inputs) + self.positions
        for layer in self.encoder:
            memory = layer(memory)
        y = self.target(outputs) + self.positions
        for layer in self.decoder:
            y = layer(y, memory, tgt_mask=self.mask)
        return self.out(y)


def classification_loss(model, x, labels):
    return F.cross_entropy(model(x).flatten(0, -2), labels.flatten())


def translation_loss(model, ids, targets):
    return F.cross_entropy(model(ids, ids).flatten(0, 1), targets.flatten())


def unet_loss(model, noisy, clean):
    return F.mse_loss(model(noisy), clean)


class Pinn(nn.Module):
    """The network of examples/heat_network, for all points at once."""

    def __init__(self):
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(337, dtype=torch.float64))

    def forward(self, x, t):
        w = self.weights
        first, second, last = w[:48].reshape(16, 3), w[48:320].reshape(16, 17), w[320:]
        h = torch.tanh((2 * x - 1)[:, None] * first[:, 0] + (2 * t - 1)[:, None] * first[:, 1] + first[:, 2])
        h = torch.tanh(h @ second[:, 1:].T + second[:, 0])
        return h @ last[1:] + last[0]


def pinn_loss(model, points, _):
    a = (torch.arange(points, dtype=torch.float64) + 0.5) / points
    x, t = (g.flatten().requires_grad_() for g in torch.meshgrid(a, a, indexing="ij"))
    u = model(x, t)
    u_x, u_t = torch.autograd.grad(u.sum(), (x, t), create_graph=True)
    u_xx, = torch.autograd.grad(u_x.sum(), x, create_graph=True)
    zero, one = torch.zeros_like(a), torch.ones_like(a)
    start = torch.sin(math.pi * a) + 0.5 * torch.sin(3 * math.pi * a)
    border = (model(a, zero) - start).square() + model(zero, a).square() + model(one, a).square()
    return (u_t - 0.1 * u_xx).square().mean() + 10 * border.mean()


MODELS = {
    "mlp": (Mlp, classification_loss), "lenet": (LeNet, classification_loss),
    "resnet20": (ResNet20, classification_loss), "depthwise": (DepthwiseCnn, classification_loss),
    "unet": (UNet, unet_loss), "lstm": (lambda: CharacterModel(nn.LSTM), classification_loss),
    "gru": (lambda: CharacterModel(nn.GRU), classification_loss), "vit": (Vit, classification_loss),
    "vae": (Vae, vae_loss), "translation": (EncoderDecoder, translation_loss), "pinn": (Pinn, pinn_loss),
}


def optimizer_of(model, kind=torch.optim.AdamW):
    return kind(model.parameters(), lr=1e-3, weight_decay=0.0, fused=True)


def load(model, tensors, prefix=""):
    with torch.no_grad():
        for name, value in model.state_dict().items():
            if not name.endswith("num_batches_tracked"):
                value.copy_(tensors[prefix + name])


def gan_step_of(tensors, wrap):
    maker, judge = Generator(), Discriminator()
    load(maker, tensors, "maker.")
    load(judge, tensors, "judge.")
    of_maker, of_judge = optimizer_of(maker), optimizer_of(judge)
    loss_of_maker, loss_of_judge = wrap(maker_loss), wrap(judge_loss)
    real, noise = tensors["x"], tensors["y"]

    def step():
        with torch.no_grad():
            made = maker(noise)
        of_judge.zero_grad()
        first = loss_of_judge(judge, real, made)
        first.backward()
        of_judge.step()
        of_maker.zero_grad()
        second = loss_of_maker(maker, judge, noise)
        second.backward()
        of_maker.step()
        return first.item() + second.item()

    return step


def step_of(name, path, compiled, threads):
    """A function that takes a training step and returns its loss."""
    torch.set_num_threads(threads)
    tensors = load_file(path)
    wrap = torch.compile if compiled else lambda f: f
    if name == "gan":
        return gan_step_of(tensors, wrap)
    make, loss_of = MODELS[name]
    model, loss_of = make(), wrap(loss_of)
    load(model, tensors)
    if name == "pinn":
        x, y, optimizer = 16, None, optimizer_of(model, torch.optim.Adam)
    else:
        x, y = (t.long() if t.dtype == torch.int32 else t for t in (tensors["x"], tensors["y"]))
        optimizer = optimizer_of(model)

    def step():
        optimizer.zero_grad()
        loss = loss_of(model, x, y)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step
