"""The twelve models of models.h as a user of JAX writes them: functions of a dictionary of parameters, which has
PyTorch's names and JAX's layouts. Images are NHWC, weights of convolutions HWIO and of linear layers [in, out]. Of
several ways to write the same layer, each is the one that XLA makes fastest on a CPU."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from gpt2_jax import layer_norm, linear
from jax import lax
from jax_engine import adamw
from safetensors.numpy import load_file

NOT_TRANSPOSED = ("embedding.weight", "source.weight", "target.weight", "positions")


def biased(p, name, y):
    return y + p[f"{name}.bias"] if f"{name}.bias" in p else y


def conv(p, name, x, stride=1, padding=0):
    w = p[f"{name}.weight"]
    if w.shape[:2] == (1, 1):
        return biased(p, name, x[:, ::stride, ::stride] @ w[0, 0])
    return biased(p, name, lax.conv_general_dilated(x, w, (stride, stride), [(padding, padding)] * 2,
                                                    dimension_numbers=("NHWC", "HWIO", "NHWC")))


def depthwise_conv(p, name, x, stride):
    """3 x 3, padded by 1, as nine products: a fifth of the time of conv_general_dilated with groups."""
    h, w = x.shape[1:3]
    x = jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    return sum(x[:, i : i + h : stride, j : j + w : stride] * p[f"{name}.weight"][i, j, 0]
               for i in range(3) for j in range(3))


def conv_transpose(p, name, x, stride, padding=0):
    w = p[f"{name}.weight"]
    if w.shape[0] == stride and padding == 0:
        y = jnp.einsum("nhwc,ijoc->nhiwjo", x, w)  # nothing overlaps
        return biased(p, name, y.reshape(x.shape[0], x.shape[1] * stride, x.shape[2] * stride, -1))
    around = w.shape[0] - 1 - padding
    return biased(p, name, lax.conv_transpose(x, w, (stride, stride), [(around, around)] * 2,
                                              dimension_numbers=("NHWC", "HWIO", "NHWC"), transpose_kernel=True))


def batch_norm(p, name, x, running):
    """Keeps the running statistics in `running`. The variance is that of flax by default, of one pass."""
    mean = x.mean((0, 1, 2))
    variance = (x * x).mean((0, 1, 2)) - mean * mean
    count = x.size // x.shape[-1]
    for key, value in (("mean", mean), ("var", variance * (count / (count - 1)))):
        key = f"{name}.running_{key}"
        running[key] = 0.9 * running[key] + 0.1 * value
    return (x - mean) * (lax.rsqrt(variance + 1e-5) * p[f"{name}.weight"]) + p[f"{name}.bias"]


def windows(x):
    """[N, H/2, 2, W/2, 2, C]: pooling is a reduction of it, which is no slower than reduce_window."""
    n, h, w, c = x.shape
    return x.reshape(n, h // 2, 2, w // 2, 2, c)


def flatten(x):
    """In the order of NCHW, which the weights of the following layer expect."""
    return x.transpose(0, 3, 1, 2).reshape(x.shape[0], -1)


def cross_entropy(scores, labels):
    chosen = jnp.take_along_axis(scores, labels[..., None], -1)[..., 0]
    return (jax.nn.logsumexp(scores, -1) - chosen).mean()


def binary_cross_entropy(scores, target):
    return jax.nn.softplus(scores) - scores * target


def mlp(p, _, x):
    x = jax.nn.relu(linear(p, "fc1", x))
    return linear(p, "fc3", jax.nn.relu(linear(p, "fc2", x)))


def lenet(p, _, x):
    x = windows(jnp.tanh(conv(p, "conv1", x, padding=2))).mean((2, 4))
    x = windows(jnp.tanh(conv(p, "conv2", x))).mean((2, 4))
    return linear(p, "fc3", jnp.tanh(linear(p, "fc2", jnp.tanh(linear(p, "fc1", flatten(x))))))


def resnet20(p, running, x):
    x = jax.nn.relu(batch_norm(p, "norm", conv(p, "stem", x, padding=1), running))
    for i in range(9):
        name, narrow = f"blocks.{i}", f"blocks.{i}.shortcut.weight" in p
        y = conv(p, f"{name}.conv1", x, stride=2 if narrow else 1, padding=1)
        y = conv(p, f"{name}.conv2", jax.nn.relu(batch_norm(p, f"{name}.bn1", y, running)), padding=1)
        y = batch_norm(p, f"{name}.bn2", y, running)
        x = jax.nn.relu(y + (conv(p, f"{name}.shortcut", x, stride=2) if narrow else x))
    return linear(p, "out", x.mean((1, 2)))


def depthwise(p, running, x):
    x = jax.nn.relu6(conv(p, "stem", x, padding=1))
    for i, stride in enumerate((1, 2, 1, 2)):
        name = f"blocks.{i}"
        x = depthwise_conv(p, f"{name}.depthwise", x, stride)
        x = jax.nn.relu6(batch_norm(p, f"{name}.bn1", x, running))
        x = jax.nn.relu6(batch_norm(p, f"{name}.bn2", conv(p, f"{name}.pointwise", x), running))
    return linear(p, "out", x.mean((1, 2)))


def unet(p, _, x):
    def twice(name, x):
        for part in ("conv1", "conv2"):
            x = jax.nn.relu(conv(p, f"{name}.{part}", x, padding=1))
        return x

    a = twice("down1", x)
    b = twice("down2", windows(a).max((2, 4)))
    c = twice("bottom", windows(b).max((2, 4)))
    d = twice("left2", jnp.concatenate((b, conv_transpose(p, "up2", c, 2)), -1))
    return conv(p, "out", twice("left1", jnp.concatenate((a, conv_transpose(p, "up1", d, 2)), -1)))


def lstm_cell(p, state, gates):
    h, c = state
    i, f, g, o = jnp.split(gates + h @ p["rnn.weight_hh_l0"] + p["rnn.bias_hh_l0"], 4, -1)
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    return jax.nn.sigmoid(o) * jnp.tanh(c), c


def gru_cell(p, state, gates):
    h, = state
    r, z, n = jnp.split(gates, 3, -1)
    of_r, of_z, of_n = jnp.split(h @ p["rnn.weight_hh_l0"] + p["rnn.bias_hh_l0"], 3, -1)
    n = jnp.tanh(n + jax.nn.sigmoid(r + of_r) * of_n)
    z = jax.nn.sigmoid(z + of_z)
    return (n + z * (h - n),)


def character_model(cell, states):
    def scores(p, _, ids):
        gates = p["embedding.weight"][ids] @ p["rnn.weight_ih_l0"] + p["rnn.bias_ih_l0"]

        def advance(state, gates):
            state = cell(p, state, gates)
            return state, state[0]

        zero = jnp.zeros((ids.shape[1], 256))
        return linear(p, "out", lax.scan(advance, (zero,) * states, gates)[1])

    return scores


def attention(p, name, x, memory, causal=False):
    w, b, width = p[f"{name}.in_proj_weight"], p[f"{name}.in_proj_bias"], x.shape[-1]
    if x is memory:
        q, k, v = jnp.split(x @ w + b, 3, -1)
    else:
        q = x @ w[:, :width] + b[:width]
        k, v = jnp.split(memory @ w[:, width:] + b[width:], 2, -1)
    q, k, v = (part.reshape(*part.shape[:2], 4, -1) for part in (q, k, v))
    return linear(p, f"{name}.out_proj", jax.nn.dot_product_attention(q, k, v, is_causal=causal).reshape(x.shape))


def norm(p, name, x):
    return layer_norm(p, name, x, 1e-5)


def vit(p, _, x):
    x = conv(p, "patches", x, stride=4)
    x = x.reshape(x.shape[0], 49, 64) + p["positions"]
    for i in range(4):
        name = f"layers.{i}"
        y = norm(p, f"{name}.norm1", x)
        x = x + attention(p, f"{name}.self_attn", y, y)
        y = jax.nn.gelu(linear(p, f"{name}.linear1", norm(p, f"{name}.norm2", x)), approximate=False)
        x = x + linear(p, f"{name}.linear2", y)
    return linear(p, "out", norm(p, "norm", x).mean(1))


def translation(p, _, ids):
    i = np.arange(64)
    angles = np.arange(32)[:, None] * 10000.0 ** (-(i - i % 2) / 64)
    positions = np.where(i % 2 == 0, np.sin(angles), np.cos(angles)).astype(np.float32)

    def feed_forward(name, last, x):
        y = linear(p, f"{name}.linear2", jax.nn.relu(linear(p, f"{name}.linear1", x)))
        return norm(p, f"{name}.{last}", x + y)

    memory = p["source.weight"][ids] + positions
    for name in ("encoder.0", "encoder.1"):
        memory = norm(p, f"{name}.norm1", memory + attention(p, f"{name}.self_attn", memory, memory))
        memory = feed_forward(name, "norm2", memory)
    y = p["target.weight"][ids] + positions
    for name in ("decoder.0", "decoder.1"):
        y = norm(p, f"{name}.norm1", y + attention(p, f"{name}.self_attn", y, y, causal=True))
        y = norm(p, f"{name}.norm2", y + attention(p, f"{name}.multihead_attn", y, memory))
        y = feed_forward(name, "norm3", y)
    return linear(p, "out", y)


def vae_loss(p, _, x, noise):
    h = jax.nn.relu(linear(p, "encoder", x))
    mu, log_variance = linear(p, "mean", h), linear(p, "log_variance", h)
    h = jax.nn.relu(linear(p, "decoder", mu + noise * jnp.exp(0.5 * log_variance)))
    reconstruction = binary_cross_entropy(linear(p, "out", h), x).sum()
    return (reconstruction - 0.5 * (log_variance - mu * mu - jnp.exp(log_variance) + 1).sum()) / x.shape[0]


def unet_loss(p, running, noisy, clean):
    return jnp.square(unet(p, running, noisy) - clean).mean()


def pinn_loss(p, *_):
    w, points = p["weights"], 16
    first, second, last = w[:48].reshape(16, 3), w[48:320].reshape(16, 17), w[320:]

    def u(x, t):
        h = jnp.tanh((2 * x - 1)[:, None] * first[:, 0] + (2 * t - 1)[:, None] * first[:, 1] + first[:, 2])
        return jnp.tanh(h @ second[:, 1:].T + second[:, 0]) @ last[1:] + last[0]

    def slope(f, x):
        return jax.jvp(f, (x,), (jnp.ones_like(x),))[1]

    a = (np.arange(points) + 0.5) / points
    x, t = (grid.ravel() for grid in np.meshgrid(a, a, indexing="ij"))
    u_t = slope(lambda t: u(x, t), t)
    u_xx = slope(lambda x: slope(lambda x: u(x, t), x), x)
    zero, one = np.zeros_like(a), np.ones_like(a)
    start = np.sin(math.pi * a) + 0.5 * np.sin(3 * math.pi * a)
    border = jnp.square(u(a, zero) - start) + jnp.square(u(zero, a)) + jnp.square(u(one, a))
    return jnp.square(u_t - 0.1 * u_xx).mean() + 10 * border.mean()


def maker(p, running, noise):
    x = linear(p, "maker.in", noise).reshape(-1, 128, 7, 7).transpose(0, 2, 3, 1)
    x = jax.nn.relu(batch_norm(p, "maker.norm1", x, running))
    x = jax.nn.relu(batch_norm(p, "maker.norm2", conv_transpose(p, "maker.up1", x, 2, 1), running))
    return jnp.tanh(conv_transpose(p, "maker.up2", x, 2, 1))


def judge(p, x):
    for name in ("judge.conv1", "judge.conv2"):
        x = jax.nn.leaky_relu(conv(p, name, x, 2, 1), 0.2)
    return linear(p, "judge.out", flatten(x))


def judge_loss(p, _, real, made):
    return binary_cross_entropy(judge(p, real), 1).mean() + binary_cross_entropy(judge(p, made), 0).mean()


def maker_loss(p, running, of_judge, noise):
    return binary_cross_entropy(judge(of_judge, maker(p, running, noise)), 1).mean()


def classification(scores):
    return lambda p, running, x, labels: cross_entropy(scores(p, running, x), labels)


LOSSES = {
    "mlp": classification(mlp), "lenet": classification(lenet), "resnet20": classification(resnet20),
    "depthwise": classification(depthwise), "unet": unet_loss,
    "lstm": classification(character_model(lstm_cell, 2)), "gru": classification(character_model(gru_cell, 1)),
    "vit": classification(vit), "vae": vae_loss, "translation": classification(translation), "pinn": pinn_loss,
}


def update(loss, state, running, x, y):
    """The loss, and the parameters and moments after a step of AdamW; changes `running` and may not be kept."""
    p, m, v, count = state

    def value(p):
        new = dict(running)
        return loss(p, new, x, y), new

    (value, new), g = jax.value_and_grad(value, has_aux=True)(p)
    running.update(new)
    return value, (*adamw(p, g, m, v, count + 1, rate=1e-3, weight_decay=0.0), count + 1)


def train(loss):
    def step(states, running, x, y):
        value, state = update(loss, states[0], running, x, y)
        return value, [state], running

    return step


def train_gan(states, running, real, noise):
    of_maker, of_judge = states
    first, of_judge = update(judge_loss, of_judge, running, real, maker(of_maker[0], running, noise))
    second, of_maker = update(maker_loss, of_maker, running, of_judge[0], noise)
    return first + second, [of_maker, of_judge], running


def convert(name, value):
    """From PyTorch's layout."""
    if value.ndim == 4:
        return value.transpose((0, 2, 3, 1) if name in ("x", "y") else (2, 3, 1, 0))
    return value.T if value.ndim == 2 and name not in ("x", "y", *NOT_TRANSPOSED) else value


def step_of(name, path):
    """A function that takes a training step and returns its loss."""
    jax.config.update("jax_enable_x64", name == "pinn")
    tensors = {key: jnp.array(convert(key, value)) for key, value in load_file(path).items()}
    batch = tensors.pop("x", None), tensors.pop("y", None)
    running = {key: tensors.pop(key) for key in list(tensors) if ".running_" in key}
    states = []
    for prefix in ("maker.", "judge.") if name == "gan" else ("",):
        p = {key: value for key, value in tensors.items() if key.startswith(prefix)}
        m, v = ({key: jnp.zeros_like(value) for key, value in p.items()} for _ in range(2))
        states.append((p, m, v, jnp.int32(0)))
    jitted = jax.jit(train_gan if name == "gan" else train(LOSSES[name]), donate_argnums=(0, 1))

    def step():
        nonlocal states, running
        loss, states, running = jitted(states, running, *batch)
        return float(loss)

    return step
