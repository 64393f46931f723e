#!/usr/bin/env python3
"""Writes types.safetensors: every element type that PyTorch can store, and its values as PyTorch sees them.

Only needed to change the reference data; the tests read the stored file.

    venv/bin/pip install torch safetensors && venv/bin/python generate_types.py types.safetensors

Bit patterns of a floating type are under "<type>", the same numbers in float32 under "<type>/F32". Float32 numbers are
under "wide", their roundings under "wide/<type>".
"""
import sys

import torch
from safetensors.torch import save_file

EIGHT_BITS = {
    "F8_E5M2": torch.float8_e5m2,
    "F8_E4M3": torch.float8_e4m3fn,
    "F8_E8M0": torch.float8_e8m0fnu,
    "F8_E4M3FNUZ": torch.float8_e4m3fnuz,
    "F8_E5M2FNUZ": torch.float8_e5m2fnuz,
}
INTEGERS = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.uint16, torch.int32, torch.uint32, torch.int64,
            torch.uint64]


def wide():
    """Numbers at and around every rounding boundary of half precision, and others."""
    halves = torch.arange(0, 0x7C00, 13, dtype=torch.int32).to(torch.int16).view(torch.float16).to(torch.float32)
    ulp = torch.nextafter(halves.to(torch.float32), torch.tensor(torch.inf)) - halves
    middle = halves + 2.0 ** -25  # ties among subnormals
    steps = torch.cat([halves, -halves, middle, halves * (1 + 2.0 ** -11), halves * (1 + 2.0 ** -11) + ulp])
    special = torch.tensor([65504.0, 65519.99, 65520.0, 65536.0, 1e30, -1e30, torch.inf, -torch.inf, torch.nan, 1e-8,
                            2.0 ** -25, 2.0 ** -24, 1e-40, -0.0, 0.0, 1.00390625, 1.01171875])
    return torch.cat([special, steps[torch.randperm(len(steps))[:4000]]])


if __name__ == "__main__":
    torch.manual_seed(1)
    tensors = {}
    every_byte = torch.arange(256, dtype=torch.int32).to(torch.uint8)
    for name, dtype in EIGHT_BITS.items():
        tensors[name] = every_byte.clone().view(dtype)
        tensors[name + "/F32"] = tensors[name].to(torch.float32)
    bits = torch.randint(-2 ** 15, 2 ** 15, (4096,), dtype=torch.int32).to(torch.int16)
    for name, dtype in {"F16": torch.float16, "BF16": torch.bfloat16}.items():
        tensors[name] = bits.view(dtype).clone()
        tensors[name + "/F32"] = tensors[name].to(torch.float32)
    tensors["F64"] = torch.cat([wide()[:50].double() * (1 + 2.0 ** -25), torch.randn(200, dtype=torch.float64)])
    tensors["F64/F32"] = tensors["F64"].to(torch.float32)
    tensors["wide"] = wide()
    for name, dtype in {"F16": torch.float16, "BF16": torch.bfloat16, "F64": torch.float64}.items():
        tensors["wide/" + name] = tensors["wide"].to(dtype)
    for dtype in INTEGERS:
        tensors[str(dtype)] = torch.tensor([[0, 1, 1], [1, 0, 1]]).to(dtype)
    tensors["C64"] = torch.tensor([1 + 2j, -3j], dtype=torch.complex64)
    tensors["F4"] = every_byte[:6].clone().view(2, 3).view(torch.float4_e2m1fn_x2)
    save_file(tensors, sys.argv[1])
