#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>

#include "cladtorch/tensor/recorder.h"
#include "tensor/dispatch.h"

namespace cladtorch {
namespace {

constexpr int64_t full_print_limit = 1000;  // more elements than this are abridged
constexpr int64_t edge_entries = 3;         // entries shown at either end of an abridged dimension

class Printer {
 public:
  explicit Printer(const Tensor& tensor) : tensor_(tensor), abridged_(tensor.numel() > full_print_limit) {
    if (is_floating(tensor.dtype())) out_ << std::fixed << std::setprecision(4);
    if (is_floating(tensor.dtype()) && needs_scientific(tensor)) out_ << std::scientific;
  }

  std::string text() {
    out_ << "tensor(";
    write(tensor_, 0);
    out_ << ", shape=" << tensor_.shape() << ", dtype=" << tensor_.dtype() << ')';
    return out_.str();
  }

 private:
  static bool needs_scientific(const Tensor& tensor) {
    const Tensor values = tensor.to(DType::float64).contiguous();
    double largest = 0, smallest = INFINITY;
    for (int64_t i = 0; i < values.numel(); ++i) {
      const double magnitude = std::abs(values.data<double>()[i]);
      if (!std::isfinite(magnitude) || magnitude == 0) continue;
      largest = std::max(largest, magnitude);
      smallest = std::min(smallest, magnitude);
    }
    return largest >= 1e5 || (largest > 0 && largest < 1e-3) || smallest < 1e-4 * std::min(1.0, largest);
  }

  void write(const Tensor& part, int depth) {
    if (part.dim() == 0) {
      if (part.dtype() == DType::boolean) {
        out_ << (part.item() != 0 ? "True" : "False");
      } else if (part.dtype() == DType::int64) {
        out_ << *part.data<int64_t>();
      } else if (part.dtype() == DType::int32) {
        out_ << *part.data<int32_t>();
      } else {
        out_ << part.item();
      }
      return;
    }
    out_ << '[';
    const int64_t n = part.size(0);
    for (int64_t i = 0; i < n; ++i) {
      if (i > 0) separate(part.dim(), depth);
      if (abridged_ && n > 2 * edge_entries && i == edge_entries) {
        out_ << "...";
        separate(part.dim(), depth);
        i = n - edge_entries;
      }
      write(part.select(0, i), depth + 1);
    }
    out_ << ']';
  }

  void separate(int rank, int depth) {
    out_ << ',';
    if (rank == 1) {
      out_ << ' ';
    } else {
      out_ << std::string(static_cast<size_t>(rank - 1), '\n')
           << std::string(static_cast<size_t>(8 + depth), ' ');
    }
  }

  const Tensor& tensor_;
  bool abridged_;
  std::ostringstream out_;
};

}  // namespace

std::string Tensor::to_string() const {
  const NotRecorded reading;
  if (!defined()) return "tensor(undefined)";
  if (!is_cuda()) return Printer(*this).text();
  std::ostringstream text;
  text << Printer(to(Device{})).text();
  text.seekp(-1, std::ios::end);
  text << ", device=" << device() << ')';
  return text.str();
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) { return out << tensor.to_string(); }

void print(const Tensor& tensor) { std::cout << tensor << '\n'; }

}  // namespace cladtorch
