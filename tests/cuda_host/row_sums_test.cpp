// A .cu file, compiled as C++ and run.
#include "row_sums.h"

#include "support.h"

namespace {
using namespace cuda_host::testing;

TEST(CudaHostFile, AKernelInAFileOfItsOwn) {
  for (const int columns : {0, 1, 255, 256, 257, 1000}) {
    std::vector<float> values(static_cast<size_t>(7 * columns));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 13);
    Buffer<float> in(values), out(7);
    expect_success(row_sums(in.get(), out.get(), 7, columns, nullptr));
    const auto sums = out.values();
    for (int row = 0; row < 7; ++row) {
      float expected = 0;
      for (int i = 0; i < columns; ++i) expected += values[static_cast<size_t>(row * columns + i)];
      EXPECT_EQ(sums[row], expected);
    }
  }
}

}  // namespace
