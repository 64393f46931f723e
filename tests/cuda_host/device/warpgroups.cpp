#include "device/warpgroups.h"

#include <bit>
#include <cstring>

#include "device/block.h"
#include "fmt/format.h"

namespace cuda_host::detail {
namespace {
constexpr uint32_t busy = 0xFFFFFFFFu;  // what sums hold while products are under way

[[noreturn]] void fail(const std::string& reason) { block_of("wgmma").fail_thread(reason); }

bool is_same(const WarpgroupProduct& a, const WarpgroupProduct& b) {
  return a.columns == b.columns && (a.a_registers == nullptr) == (b.a_registers == nullptr) &&
         (a.a_registers != nullptr || a.a == b.a) && a.b == b.b && a.a_transposed == b.a_transposed &&
         a.b_transposed == b.b_transposed && a.accumulate == b.accumulate;
}

float decoded(uint32_t bits) { return std::bit_cast<float>(bits << 16); }

// Number i of lane `lane` in sums [16, columns].
size_t place(int lane, int i, int columns) {
  const int row = lane / 4 + i % 4 / 2 * 8, column = i / 4 * 8 + lane % 4 * 2 + i % 2;
  return static_cast<size_t>(row) * columns + column;
}
}  // namespace

void Warpgroups::prepare(size_t threads, const unsigned char* memory, size_t bytes) {
  if (!warps_.empty()) return;
  warps_.assign((threads + 31) / 32, {});
  groups_.assign((threads + 127) / 128, {});
  memory_.reset(memory, bytes);
}

std::string Warpgroups::unfinished() const {
  for (size_t w = 0; w < warps_.size(); ++w) {
    if (!warps_[w].products.empty())
      return fmt::format("warp {} returns without having waited for its products by wgmma", w);
    if (warps_[w].started != groups_[w / 4].products.size())
      return fmt::format("warp {} started {} products by wgmma, another of its warpgroup {}", w,
                         warps_[w].started, groups_[w / 4].products.size());
  }
  return {};
}

void Warpgroups::multiply(unsigned w, const WarpgroupProduct* const (&lanes)[32]) {
  Warp& warp = warps_[w];
  std::vector<Shared>& products = groups_[w / 4].products;
  const WarpgroupProduct& first = *lanes[0];
  if (w / 4 * 4 + 4 > warps_.size()) fail("multiplies by wgmma in a warpgroup of fewer than 128 threads");
  if (!warp.fenced) fail("multiplies by wgmma without wgmma.fence since the last wait");
  for (const WarpgroupProduct* lane : lanes)
    if (!is_same(*lane, first)) fail("multiplies by wgmma with other operands than its warp");
  if (warp.started == products.size()) {
    Shared shared{first, {}, memory_.read(first.b, first.b_transposed, first.columns)};
    if (first.a_registers == nullptr) shared.a = memory_.read(first.a, first.a_transposed, 64);
    products.push_back(std::move(shared));
  } else if (!is_same(first, products[warp.started].product)) {
    fail("multiplies by wgmma with other operands than its warpgroup");
  }
  begin_sums(warp, lanes);
  Product product{warp.started++, first.d, {}, {}, first.accumulate};
  for (int lane = 0; lane < 32 && first.a_registers != nullptr; ++lane) {
    product.a_places[lane] = lanes[lane]->a_registers;
    std::memcpy(product.a[lane], lanes[lane]->a_registers, sizeof(product.a[lane]));
  }
  warp.products.push_back(product);
}

void Warpgroups::begin_sums(Warp& warp, const WarpgroupProduct* const (&lanes)[32]) {
  const int columns = lanes[0]->columns;
  const auto [found, fresh] = warp.sums.try_emplace(lanes[0]->d);
  Sums& sums = found->second;
  ++sums.uses;
  if (!fresh) {
    if (sums.columns != columns) fail("multiplies by wgmma into sums of another shape that are under way");
    return;
  }
  sums.columns = columns;
  sums.values.resize(static_cast<size_t>(16) * columns);
  for (int lane = 0; lane < 32; ++lane) {
    float* const d = sums.places[lane] = lanes[lane]->d;
    for (int i = 0; i < columns / 2; ++i) {
      sums.values[place(lane, i, columns)] = d[i];
      std::memcpy(d + i, &busy, sizeof(busy));
    }
  }
}

void Warpgroups::commit(unsigned w) { warps_[w].groups.push_back(warps_[w].started); }

void Warpgroups::wait(unsigned w, size_t groups) {
  Warp& warp = warps_[w];
  warp.fenced = false;
  while (warp.groups.size() > groups) {
    const size_t end = warp.groups.front();
    warp.groups.pop_front();
    while (!warp.products.empty() && warp.products.front().number < end) {
      const Product product = warp.products.front();
      warp.products.pop_front();
      finish(w, product);
    }
  }
}

void Warpgroups::finish(unsigned w, const Product& product) {
  Shared& shared = groups_[w / 4].products[product.number];
  const WarpgroupProduct& p = shared.product;
  if (memory_.read(p.b, p.b_transposed, p.columns) != shared.b ||
      (p.a_registers == nullptr && memory_.read(p.a, p.a_transposed, 64) != shared.a))
    fail("waits for a product by wgmma whose operands in shared memory have changed since it started");
  float a[16][16];
  for (int lane = 0; lane < 32 && p.a_registers != nullptr; ++lane) {
    if (std::memcmp(product.a_places[lane], product.a[lane], sizeof(product.a[lane])) != 0)
      fail("waits for a product by wgmma whose operand in registers has changed since it started");
    for (int i = 0; i < 8; ++i)
      a[lane / 4 + i / 2 % 2 * 8][lane % 4 * 2 + i % 2 + i / 4 * 8] =
          decoded(product.a[lane][i / 2] >> i % 2 * 16 & 0xFFFF);
  }
  for (size_t i = 0; i < 256 && p.a_registers == nullptr; ++i)
    a[i / 16][i % 16] = decoded(shared.a[w % 4 * 256 + i]);

  Sums& sums = warps_[w].sums.at(product.sums);
  const auto columns = static_cast<size_t>(p.columns);
  std::vector<float> b(16 * columns);
  for (size_t i = 0; i < b.size(); ++i) b[i % 16 * columns + i / 16] = decoded(shared.b[i]);
  for (size_t row = 0; row < 16; ++row) {
    float* const to = sums.values.data() + row * columns;
    if (!product.accumulate) std::fill(to, to + columns, 0.0f);
    for (size_t k = 0; k < 16; ++k)
      for (size_t column = 0; column < columns; ++column) to[column] += a[row][k] * b[k * columns + column];
  }
  if (--sums.uses > 0) return;
  write(sums);
  warps_[w].sums.erase(product.sums);
}

void Warpgroups::write(const Sums& sums) {
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < sums.columns / 2; ++i) {
      float& to = sums.places[lane][i];
      if (std::memcmp(&to, &busy, sizeof(busy)) != 0)
        fail("waits for a product by wgmma whose sums were written to since it started");
      to = sums.values[place(lane, i, sums.columns)];
    }
  }
}

void Warpgroups::show_memory(unsigned w, unsigned lane) {
  Warp& warp = warps_[w];
  warp.shown |= 1u << lane;
  if (warp.shown != busy) return;
  warp.shown = 0;
  memory_.show();
}

}  // namespace cuda_host::detail
