// The loss of a naive GPT-2 and its gradient, added to *gradient: three ways to the same numbers.
#pragma once

#include "naive_gpt2.h"

/// The naive program, with the library's fusion rules.
double fused_by_compiler(const naive::GPT2& model, const naive::Tensor& tokens, const naive::Tensor& targets,
                         naive::GPT2* gradient);
/// The naive program as it is.
double not_fused(const naive::GPT2& model, const naive::Tensor& tokens, const naive::Tensor& targets,
                 naive::GPT2* gradient);
/// The program written with fused operations.
double fused_by_hand(const naive::GPT2& model, const naive::Tensor& tokens, const naive::Tensor& targets,
                     naive::GPT2* gradient);
/// What the compiler wrote for the first and the last.
const char* code_fused_by_compiler();
const char* code_fused_by_hand();
