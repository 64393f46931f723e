// Operations that move elements, products that einsum writes, and linear algebra.
#include "cladtorch/ops/linalg.h"
#include "cladtorch/ops/ops.h"
#include "cladtorch/ops/products.h"
#include "cladtorch/ops/shape.h"
#include "cladtorch/tensor/factories.h"
#include "tests/ops/catalogue.h"

namespace cladtorch::testing {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using Gradients = std::vector<Tensor*>;
template <class S>
using State = clad::pullback_state<S>;

/// One whose constant results are made by views or copies, so that a frozen operand alone makes no
/// difference.
Operation linear_in_one(const char* name, std::vector<std::vector<Shape>> cases, Forward forward,
                        Pullback pullback) {
  Operation operation{name, {{}}, std::move(cases), std::move(forward), std::move(pullback)};
  operation.freezes = operation.on_devices = false;
  return operation;
}

Operation padding(const char* name, const Shape& amounts, PadMode mode, double value = 0) {
  return linear_in_one(
      name, {{{2, 3, 6, 5}}, {{4, 7}}, {{2, 40, 500}}},
      [=](const Tensors& x) { return pad(x[0], amounts, mode, value); },
      [=](const Tensors&, Tensor d_y, const Gradients& d) {
        pullbacks::pad_pullback({}, amounts, mode, value, std::move(d_y), d[0], nullptr);
      });
}

std::vector<Operation> moves() {
  const UnfoldOptions windows{.dilation = {1, 2}, .padding = {1, 0}, .stride = {2, 1}};
  return {
      padding("pad", {1, 2, 0, 3}, PadMode::constant, 0.5),
      padding("pad_crop", {-1, 2, 3, -2}, PadMode::constant),
      padding("pad_reflect", {4, 2, 1, 3}, PadMode::reflect),
      padding("pad_replicate", {6, 1, 0, 3}, PadMode::replicate),
      padding("pad_circular", {3, 5, 2, 1}, PadMode::circular),
      linear_in_one(
          "tril_of_2", {{{3, 7, 4}}, {{2, 600, 300}}}, [](const Tensors& x) { return tril(x[0], -2); },
          [](const Tensors&, Tensor d_y, const Gradients& d) {
            pullbacks::tril_pullback({}, -2, std::move(d_y), d[0]);
          }),
      linear_in_one(
          "triu", {{{3, 7, 4}}, {{4, 7}}}, [](const Tensors& x) { return triu(x[0], 1); },
          [](const Tensors&, Tensor d_y, const Gradients& d) {
            pullbacks::triu_pullback({}, 1, std::move(d_y), d[0]);
          }),
      linear_in_one(
          "diagonal", {{{4, 3, 6}}, {{5, 2, 2}}}, [](const Tensors& x) { return diagonal(x[0], 1, 0, -1); },
          [](const Tensors& x, Tensor d_y, const Gradients& d) {
            State<ShapeState> state;
            pullbacks::diagonal_reverse_forw(x[0], 1, 0, -1, state);
            pullbacks::diagonal_pullback({}, 1, 0, -1, std::move(d_y), d[0], state);
          }),
      linear_in_one(
          "diag_embed", {{{3, 4}}, {{5}}}, [](const Tensors& x) { return diag_embed(x[0], -2, 0, -1); },
          [](const Tensors&, Tensor d_y, const Gradients& d) {
            pullbacks::diag_embed_pullback({}, -2, 0, -1, std::move(d_y), d[0]);
          }),
      linear_in_one(
          "unfold", {{{2, 3, 7, 6}}, {{1, 5, 4}}, {{3, 8, 40, 41}}},
          [=](const Tensors& x) { return unfold(x[0], {3, 2}, windows); },
          [=](const Tensors& x, Tensor d_y, const Gradients& d) {
            State<ShapeState> state;
            pullbacks::unfold_reverse_forw(x[0], {3, 2}, windows, state);
            pullbacks::unfold_pullback({}, {3, 2}, windows, std::move(d_y), d[0], state);
          }),
      linear_in_one(
          "fold", {{{2, 12, 16}}, {{6, 16}}},
          [=](const Tensors& x) { return fold(x[0], {7, 6}, {3, 2}, windows); },
          [=](const Tensors&, Tensor d_y, const Gradients& d) {
            pullbacks::fold_pullback({}, {7, 6}, {3, 2}, windows, std::move(d_y), d[0]);
          }),
  };
}

Operation einsums(const char* name, const std::string& equation, std::vector<std::vector<Shape>> cases) {
  std::vector<Operand> operands;
  constexpr const char* names[] = {"a", "b", "c"};
  for (size_t i = 0; i < cases[0].size(); ++i) operands.push_back({names[i]});
  Operation operation{name, operands, std::move(cases), [=](const Tensors& x) { return einsum(equation, x); },
                      [=](const Tensors& x, Tensor d_y, const Gradients& d) {
                        Tensors parts(d.size());
                        for (size_t i = 0; i < d.size(); ++i)
                          if (d[i]) parts[i] = std::move(*d[i]);
                        pullbacks::einsum_pullback(equation, x, std::move(d_y), &parts);
                        for (size_t i = 0; i < d.size(); ++i)
                          if (d[i]) *d[i] = std::move(parts[i]);
                      }};
  operation.rounds_once = operation.on_devices = false;
  operation.freezes = operands.size() > 1;
  return operation;
}

std::vector<Operation> products() {
  return {
      einsums("einsum_matrices", "bij,bjk->bik", {{{2, 3, 4}, {2, 4, 5}}, {{3, 33, 65}, {3, 65, 17}}}),
      einsums("einsum_three", "bi,ijk,bk->bj", {{{2, 3}, {3, 4, 5}, {2, 5}}}),
      einsums("einsum_elements", "ij,ji->ij", {{{3, 4}, {4, 3}}}),
      einsums("einsum_outer", "i,jk", {{{3}, {2, 4}}}),
      einsums("einsum_diagonal", "iji,jk->ki", {{{3, 4, 3}, {4, 2}}}),
      einsums("einsum_alone", "ikj->ji", {{{3, 4, 5}}}),
      einsums("einsum_dots", "a...ij,...jk->...ik", {{{2, 3, 1, 4, 5}, {6, 5, 2}}}),
      einsums("einsum_ones", "ij,jk,lj->kl", {{{1, 1}, {4, 3}, {2, 4}}}),
  };
}

Tensor shifted(const Tensor& x, double by) { return add(x, scale(eye(x.size(-1), x.dtype()), by)); }
Tensor turned(const Tensor& x) { return x.transpose(-2, -1); }

/// x x^T + 4 and its pullback.
Tensor positive(const Tensor& x) { return shifted(matmul(x, turned(x)), 4); }
void positive_pullback(const Tensor& x, const Tensor& d_y, Tensor* d_x) {
  if (d_x && d_y.defined()) d_x->accumulate(matmul(add(d_y, turned(d_y)), x));
}
/// x + x^T with distances between the eigenvalues, and its pullback.
Tensor symmetric(const Tensor& x) {
  const Tensor apart = diag_embed(scale(arange(x.size(-1), x.dtype()), 6));
  return add(add(x, turned(x)), apart);
}
void symmetric_pullback(const Tensor&, const Tensor& d_y, Tensor* d_x) {
  if (d_x && d_y.defined()) d_x->accumulate(add(d_y, turned(d_y)));
}

Operation matrices(const char* name, std::vector<Operand> operands, std::vector<std::vector<Shape>> cases,
                   Forward forward, Pullback pullback) {
  Operation operation{name, std::move(operands), std::move(cases), std::move(forward), std::move(pullback)};
  operation.rounds_once = operation.freezes = operation.on_devices = false;
  return operation;
}

std::vector<Operation> linear_algebra() {
  namespace of = pullbacks::linalg;
  if (!linalg::available()) return {};
  const std::vector<std::vector<Shape>> squares = {{{4, 4}}, {{2, 3, 5, 5}}, {{1, 1}}, {{0, 3, 3}}};
  const auto solve = [](const char* name, std::vector<std::vector<Shape>> cases) {
    return matrices(
        name, {{"a", -1, 1}, {"b"}}, std::move(cases),
        [](const Tensors& x) { return linalg::solve(shifted(x[0], 4), x[1]); },
        [](const Tensors& x, Tensor d_y, const Gradients& d) {
          State<linalg::SolveState> state;
          of::solve_reverse_forw(shifted(x[0], 4), x[1], state);
          of::solve_pullback({}, {}, std::move(d_y), d[0], d[1], state);
        });
  };
  const auto triangle = [](const char* name, bool upper, bool unit) {
    return matrices(
        name, {{"a", -1, 1}, {"b"}}, {{{2, 4, 4}, {2, 4, 3}}, {{3, 3}, {2, 3, 2}}},
        [=](const Tensors& x) { return linalg::solve_triangular(shifted(x[0], 4), x[1], upper, true, unit); },
        [=](const Tensors& x, Tensor d_y, const Gradients& d) {
          State<linalg::TriangleState> state;
          of::detail::solve_triangle_reverse_forw(shifted(x[0], 4), x[1], upper, unit, state);
          of::detail::solve_triangle_pullback(shifted(x[0], 4), {}, upper, unit, std::move(d_y), d[0], d[1],
                                              state);
        });
  };
  return {
      matrices(
          "inv", {{"x", -1, 1}}, squares, [](const Tensors& x) { return linalg::inv(shifted(x[0], 4)); },
          [](const Tensors& x, Tensor d_y, const Gradients& d) {
            State<linalg::MatrixState> state;
            of::inv_reverse_forw(shifted(x[0], 4), state);
            of::inv_pullback({}, std::move(d_y), d[0], state);
          }),
      solve("solve", {{{2, 4, 4}, {2, 4, 3}}, {{3, 3}, {2, 3, 2}}, {{2, 1, 3, 3}, {4, 3, 2}}}),
      solve("solve_vectors", {{{2, 4, 4}, {2, 4}}, {{3, 3}, {3}}}),
      triangle("solve_triangular", true, false),
      triangle("solve_unit_triangular", false, true),
      matrices(
          "det", {{"x", -1, 1}}, {{{3, 3}}, {{2, 2, 4, 4}}, {{1, 1}}},
          [](const Tensors& x) { return linalg::det(shifted(x[0], 2)); },
          [](const Tensors& x, Tensor d_y, const Gradients& d) {
            State<linalg::DeterminantState> state;
            of::det_reverse_forw(shifted(x[0], 2), state);
            of::det_pullback({}, std::move(d_y), d[0], state);
          }),
      matrices(
          "slogdet", {{"x", -1, 1}}, {{{3, 3}}, {{2, 2, 4, 4}}},
          [](const Tensors& x) { return linalg::slogdet(shifted(x[0], -3)).logabsdet; },
          [](const Tensors& x, Tensor d_y, const Gradients& d) {
            State<linalg::DeterminantState> state;
            of::slogdet_reverse_forw(shifted(x[0], -3), state);
            of::slogdet_pullback({}, {{}, std::move(d_y)}, d[0], state);
          }),
      matrices(
          "cholesky", {{}}, {{{4, 4}}, {{2, 5, 5}}},
          [](const Tensors& x) { return linalg::cholesky(positive(x[0])); },
          [](const Tensors& x, Tensor d_y, const Gradients& d) {
            State<linalg::MatrixState> state;
            of::cholesky_reverse_forw(positive(x[0]), state);
            Tensor d_a;
            of::cholesky_pullback({}, std::move(d_y), &d_a, state);
            positive_pullback(x[0], d_a, d[0]);
          }),
      matrices(
          "eigh", {{}}, {{{4, 4}}, {{2, 3, 3}}},
          [](const Tensors& x) {
            const linalg::Eigen y = linalg::eigh(symmetric(x[0]));
            return cat({y.eigenvalues.unsqueeze(-2), square(y.eigenvectors)}, -2);
          },
          [](const Tensors& x, Tensor d_y, const Gradients& d) {
            if (!d_y.defined()) return;
            State<linalg::Eigen> state;
            const linalg::Eigen y = of::eigh_reverse_forw(symmetric(x[0]), state);
            const int64_t n = y.eigenvalues.size(-1);
            Tensor d_a;
            of::eigh_pullback({}, {d_y.select(-2, 0), mul(scale(y.eigenvectors, 2), d_y.narrow(-2, 1, n))},
                              &d_a, state);
            symmetric_pullback(x[0], d_a, d[0]);
          }),
      matrices(
          "qr", {{}}, {{{5, 3}}, {{2, 4, 4}}},
          [](const Tensors& x) {
            const linalg::QR y = linalg::qr(x[0]);
            return cat({y.Q, y.R}, -2);
          },
          [](const Tensors& x, Tensor d_y, const Gradients& d) {
            if (!d_y.defined()) return;
            State<linalg::QR> state;
            of::qr_reverse_forw(x[0], state);
            const int64_t m = x[0].size(-2), n = x[0].size(-1);
            of::qr_pullback({}, {d_y.narrow(-2, 0, m), d_y.narrow(-2, m, n)}, d[0], state);
          }),
      matrices(
          "svdvals", {{}}, {{{3, 5}}, {{2, 4, 2}}}, [](const Tensors& x) { return linalg::svdvals(x[0]); },
          [](const Tensors& x, Tensor d_y, const Gradients& d) {
            State<linalg::SVD> state;
            of::svdvals_reverse_forw(x[0], state);
            of::svdvals_pullback({}, std::move(d_y), d[0], state);
          }),
      // What does not depend on the signs of the vectors.
      matrices(
          "svd", {{}}, {{{5, 3}}, {{2, 3, 5}}, {{2, 4, 4}}},
          [](const Tensors& x) {
            const linalg::SVD y = linalg::svd(x[0]);
            return cat(
                {square(y.U).flatten(), y.S.flatten(), square(y.Vh).flatten(), matmul(y.U, y.Vh).flatten()});
          },
          [](const Tensors& x, Tensor d_y, const Gradients& d) {
            if (!d_y.defined()) return;
            State<linalg::SVD> state;
            const linalg::SVD y = of::svd_reverse_forw(x[0], state);
            int64_t at = 0;
            const auto next = [&](const Shape& shape) {
              at += shape.numel();
              return d_y.narrow(0, at - shape.numel(), shape.numel()).reshape(shape);
            };
            const Tensor d_u = next(y.U.shape()), d_s = next(y.S.shape()), d_vh = next(y.Vh.shape()),
                         d_product = next(x[0].shape());
            of::svd_pullback({},
                             {add(mul(scale(y.U, 2), d_u), matmul(d_product, turned(y.Vh))), d_s,
                              add(mul(scale(y.Vh, 2), d_vh), matmul(turned(y.U), d_product))},
                             d[0], state);
          }),
      matrices(
          "pinv", {{}}, {{{5, 3}}, {{2, 3, 5}}, {{2, 4, 4}}},
          [](const Tensors& x) { return linalg::pinv(x[0]); },
          [](const Tensors& x, Tensor d_y, const Gradients& d) {
            State<linalg::MatrixState> state;
            of::pinv_reverse_forw(x[0], -1, state);
            of::pinv_pullback(x[0], -1, std::move(d_y), d[0], nullptr, state);
          }),
  };
}

}  // namespace

std::vector<Operation> operations_on_shapes() {
  std::vector<Operation> all = moves();
  for (const auto& part : {products(), linear_algebra()}) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace cladtorch::testing
