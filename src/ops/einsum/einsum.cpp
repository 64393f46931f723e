#include "cladtorch/ops/pushforward/products.h"

#include <algorithm>

#include "cladtorch/ops/reduce_dims.h"
#include "cladtorch/tensor/gradient_target.h"
#include "cladtorch/tensor/recorder.h"
#include "ops/einsum/equation.h"

namespace cladtorch {

Shape detail::kron_shape(const Shape& a, const Shape& b, KronShape which) {
  const int rank = std::max(a.rank(), b.rank());
  require(2 * rank <= max_rank, "kron: expected rank ", max_rank / 2, " or less, got ", a, " and ", b);
  Shape shape;
  for (int i = 0; i < rank; ++i) {
    const auto extent = [&](const Shape& x) { return i < rank - x.rank() ? 1 : x[i - (rank - x.rank())]; };
    switch (which) {
      case KronShape::first:
        shape.push_back(extent(a));
        shape.push_back(1);
        break;
      case KronShape::second:
        shape.push_back(1);
        shape.push_back(extent(b));
        break;
      case KronShape::result:
        shape.push_back(extent(a) * extent(b));
    }
  }
  return shape;
}

namespace {

using detail::Equation;
using detail::has;
using detail::Letters;

struct Term {
  Tensor x;
  Letters letters;  ///< of its dimensions, each once
};

int64_t product_of(const Letters& letters, const Equation& equation) {
  int64_t n = 1;
  for (int letter : letters) n *= equation.sizes.at(letter);
  return n;
}
Letters together(Letters a, const Letters& b, const Letters& c = {}) {
  a.insert(a.end(), b.begin(), b.end());
  a.insert(a.end(), c.begin(), c.end());
  return a;
}
int64_t place(const Letters& letters, int letter) {
  return std::find(letters.begin(), letters.end(), letter) - letters.begin();
}

/// An operand of which each letter is once, by its diagonals, and no letter has another size than elsewhere.
/// With `d`, a gradient of such a term becomes one of the operand.
Term term_of(const Equation& equation, const Tensor& x, const Letters& letters, Tensor* d = nullptr) {
  for (size_t i = 0; i < letters.size(); ++i) {
    const int64_t dim = static_cast<int64_t>(i);
    if (x.size(dim) == 1 && equation.sizes.at(letters[i]) != 1) {
      Letters rest = letters;
      rest.erase(rest.begin() + dim);
      Term term = term_of(equation, x.select(dim, 0), rest, d);
      if (d) *d = d->unsqueeze(dim);
      return term;
    }
    for (size_t j = i + 1; j < letters.size(); ++j) {
      if (letters[j] != letters[i] || x.size(static_cast<int64_t>(j)) != x.size(dim)) continue;
      Letters rest = letters;
      rest.erase(rest.begin() + static_cast<int64_t>(j));
      rest.erase(rest.begin() + dim);
      rest.push_back(letters[i]);
      clad::pullback_state<ShapeState> state;
      const Tensor part = clad::custom_derivatives::cladtorch::diagonal_reverse_forw(
          x, 0, dim, static_cast<int64_t>(j), state);
      Term term = term_of(equation, part, rest, d);
      if (d) {
        Tensor whole;
        clad::custom_derivatives::cladtorch::diagonal_pullback(x, 0, dim, static_cast<int64_t>(j), *d, &whole,
                                                               state);
        *d = whole;
      }
      return term;
    }
  }
  return {x, letters};
}

/// Summed over all letters that are not wanted.
template <class Wanted>
Term summed(const Term& term, Wanted wanted) {
  Shape dims;
  Letters rest;
  for (size_t i = 0; i < term.letters.size(); ++i) {
    if (wanted(term.letters[i])) {
      rest.push_back(term.letters[i]);
    } else {
      dims.push_back(static_cast<int64_t>(i));
    }
  }
  if (dims.rank() == 0) return term;
  return {sum(term.x, dims), rest};
}

Tensor permuted(const Term& term, const Letters& letters) {
  Shape dims;
  for (int letter : letters) dims.push_back(place(term.letters, letter));
  return term.x.permute(dims);
}

/// The product of two terms, summed over letters that are not wanted.
template <class Wanted>
Term product(const Equation& equation, Term a, Term b, Wanted wanted) {
  a = summed(a, [&](int letter) { return wanted(letter) || has(b.letters, letter); });
  b = summed(b, [&](int letter) { return wanted(letter) || has(a.letters, letter); });
  Letters batch, of_a, of_b, inner;
  for (int letter : a.letters)
    (!has(b.letters, letter) ? of_a : wanted(letter) ? batch : inner).push_back(letter);
  for (int letter : b.letters)
    if (!has(a.letters, letter)) of_b.push_back(letter);
  const Letters letters = together(batch, of_a, of_b);
  if (inner.empty() && of_a.empty() && of_b.empty())
    return {mul(permuted(a, batch), permuted(b, batch)), letters};

  const int64_t n = product_of(batch, equation), rows = product_of(of_a, equation),
                columns = product_of(of_b, equation), k = product_of(inner, equation);
  Shape shape;
  for (int letter : letters) shape.push_back(equation.sizes.at(letter));
  const auto view = [&](const Term& term, const Letters& order, int64_t height, int64_t width) {
    const Shape matrices = batch.empty() ? Shape{height, width} : Shape{n, height, width};
    return permuted(term, order).reshape(matrices);
  };
  const Tensor left = view(a, together(batch, of_a, inner), rows, k),
               right = view(b, together(batch, inner, of_b), k, columns);
  return {(inner.empty() ? mul(left, right) : matmul(left, right)).reshape(shape), letters};
}

/// The product of all terms with the dimensions `result`.
Tensor contracted(const Equation& equation, const std::vector<Term>& terms, const Letters& result) {
  Term all = terms[0];
  for (size_t i = 1; i < terms.size(); ++i)
    all = product(equation, all, terms[i], [&](int letter) {
      for (size_t k = i + 1; k < terms.size(); ++k)
        if (has(terms[k].letters, letter)) return true;
      return has(result, letter);
    });
  return permuted(summed(all, [&](int letter) { return has(result, letter); }), result);
}

std::vector<Term> terms_of(const Equation& equation, const std::vector<Tensor>& operands) {
  std::vector<Term> terms;
  for (size_t i = 0; i < operands.size(); ++i)
    terms.push_back(term_of(equation, operands[i], equation.operands[i]));
  return terms;
}

}  // namespace

Tensor einsum(const std::string& text, const std::vector<Tensor>& operands) {
  CLADTORCH_RECORD(einsum, text, operands);
  require(!operands.empty(), "einsum: there is no operand");
  const Equation equation(text, operands);
  Tensor y = contracted(equation, terms_of(equation, operands), equation.result);
  if (std::all_of(operands.begin(), operands.end(), [](const Tensor& x) { return x.is_frozen(); }))
    y.set_frozen(true);
  return y;
}

/// Calls f(i, the operands with the tangent of the i-th instead of it) for each that has one.
template <class F>
static void for_each_tangent(const std::vector<Tensor>& operands, const std::vector<Tensor>& d_operands,
                             F f) {
  for (size_t i = 0; i < std::min(operands.size(), d_operands.size()); ++i) {
    if (!d_operands[i].defined()) continue;
    std::vector<Tensor> moved = operands;
    moved[i] = d_operands[i];
    f(i, moved);
  }
}

Tensor tangents::of_einsum(const std::string& equation, const std::vector<Tensor>& operands,
                           const std::vector<Tensor>& d_operands) {
  Tensor sum;
  for_each_tangent(operands, d_operands, [&](size_t, const std::vector<Tensor>& moved) {
    const Tensor term = einsum(equation, moved);
    sum = sum.defined() ? add(sum, term) : term;
  });
  return sum;
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using namespace ::cladtorch;

void einsum_pullback(const std::string& text, const std::vector<Tensor>& operands, Tensor d_y,
                     std::vector<Tensor>* d_operands) {
  if (!d_operands) return;
  if (d_operands->size() < operands.size()) d_operands->resize(operands.size());
  if (!d_y.defined()) return;
  const Equation equation(text, operands);
  const std::vector<Term> terms = terms_of(equation, operands);
  for (size_t i = 0; i < operands.size(); ++i) {
    Tensor* const d = wanted(&(*d_operands)[i], operands[i]);
    if (!d) continue;
    std::vector<Term> others = {{d_y, equation.result}};
    for (size_t k = 0; k < terms.size(); ++k)
      if (k != i) others.push_back(terms[k]);
    // A letter that this operand alone has was summed over: the gradient is the same for all of its places.
    Letters shared;
    Shape stretched, full;
    for (int letter : terms[i].letters) {
      const bool found = std::any_of(others.begin(), others.end(),
                                     [&](const Term& other) { return has(other.letters, letter); });
      if (found) shared.push_back(letter);
      full.push_back(equation.sizes.at(letter));
      stretched.push_back(found ? full.back() : 1);
    }
    Tensor d_x = contracted(equation, others, shared).reshape(stretched).expand(full);
    term_of(equation, operands[i], equation.operands[i], &d_x);
    d->accumulate(std::move(d_x));
  }
}

void tangents::of_einsum_pullback(const std::string& equation, const std::vector<Tensor>& operands,
                                  const std::vector<Tensor>& d_operands, Tensor d_y,
                                  std::vector<Tensor>* d_of_operands, std::vector<Tensor>* d_of_tangents) {
  if (!d_y.defined()) return;
  const auto contribute = [](std::vector<Tensor>* to, size_t i, Tensor& d) {
    if (!to || !d.defined()) return;
    if (to->size() <= i) to->resize(i + 1);
    (*to)[i].accumulate(std::move(d));
  };
  ::cladtorch::for_each_tangent(operands, d_operands, [&](size_t i, const std::vector<Tensor>& moved) {
    std::vector<Tensor> d_moved;
    einsum_pullback(equation, moved, d_y, &d_moved);
    for (size_t k = 0; k < d_moved.size(); ++k)
      contribute(k == i ? d_of_tangents : d_of_operands, k, d_moved[k]);
  });
}

}  // namespace clad::custom_derivatives::cladtorch
