#include "cladtorch/io/conversion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "cladtorch/io/safetensors.h"
#include "io/half_kernels.h"
#include "io/temporary_folder.h"

namespace cladtorch::io {
namespace {

using testing::HasSubstr;

const SafetensorsFile& reference() {
  static const SafetensorsFile file(CLADTORCH_TYPES_FILE);
  return file;
}

template <class T>
std::vector<T> values_of(const StoredTensor& tensor) {
  std::vector<T> values(tensor.data.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
  return values;
}

std::vector<float> widened(const StoredTensor& tensor) {
  std::vector<float> values(static_cast<size_t>(element_count(tensor)));
  to_float32(tensor, values);
  return values;
}

/// Equal bits, or both NaN.
void expect_same(const std::vector<float>& a, const std::vector<float>& b, const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    ASSERT_EQ(std::bit_cast<uint32_t>(a[i]), std::bit_cast<uint32_t>(b[i]))
        << what << ' ' << i << ' ' << a[i];
  }
}

TEST(Conversion, EveryFloatingTypeGivesTheValuesThatPyTorchGives) {
  for (const char* type :
       {"F64", "F16", "BF16", "F8_E5M2", "F8_E4M3", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"}) {
    const StoredTensor& stored = reference().at(type);
    EXPECT_STREQ(stored_name(stored.type), type);
    EXPECT_TRUE(converts_to_float32(stored.type));
    expect_same(widened(stored), values_of<float>(reference().at(std::string(type) + "/F32")), type);
  }
}

TEST(Conversion, RoundsAsPyTorchDoes) {
  const std::vector<float> wide = values_of<float>(reference().at("wide"));
  for (const char* type : {"F64", "F16", "BF16"}) {
    const StoredTensor& expected = reference().at(std::string("wide/") + type);
    std::vector<std::byte> bytes(expected.data.size());
    from_float32(wide, expected.type, bytes);
    expect_same(widened({expected.type, expected.shape, bytes}), widened(expected), type);
  }
}

TEST(Conversion, DataMayBeginAtAnyByte) {
  for (const char* type : {"F64", "F16", "BF16", "wide"}) {
    const StoredTensor& stored = reference().at(type);
    std::vector<std::byte> shifted(stored.data.size() + 1);
    std::memcpy(shifted.data() + 1, stored.data.data(), stored.data.size());
    const StoredTensor odd{stored.type, stored.shape, std::span(shifted).subspan(1)};
    expect_same(widened(odd), widened(stored), type);
  }
}

TEST(Conversion, ManyElementsAreConvertedInPieces) {
  std::vector<float> wide(200'003);
  for (size_t i = 0; i < wide.size(); ++i) wide[i] = static_cast<float>(i % 2048) * 0.25f;
  for (const StoredType type : {StoredType::f32, StoredType::f64, StoredType::f16}) {
    std::vector<std::byte> bytes(wide.size() * stored_bits(type) / 8);
    from_float32(wide, type, bytes);
    EXPECT_EQ(widened({type, {static_cast<int64_t>(wide.size())}, bytes}), wide) << stored_name(type);
  }
}

TEST(Conversion, RefusesWhatIsNoRealNumber) {
  for (const StoredType type : {StoredType::i64, StoredType::boolean, StoredType::c64, StoredType::f4}) {
    EXPECT_FALSE(converts_to_float32(type));
    EXPECT_THAT(error_of([&] { to_float32({type, {0}, {}}, {}); }), HasSubstr(stored_name(type)));
  }
  EXPECT_THAT(error_of([&] { from_float32({}, StoredType::f8_e4m3, {}); }), HasSubstr("F8_E4M3"));
}

TEST(HalfKernels, GiveTheSameBitsForEveryInstructionSetAndLength) {
  std::vector<uint16_t> every(65536);
  for (size_t i = 0; i < every.size(); ++i) every[i] = static_cast<uint16_t>(i * 40503);  // a permutation
  for (const HalfKernels& kernels : half_kernels()) {
    for (const int64_t n : {0, 1, 3, 7, 8, 15, 16, 17, 31, 33, 65536}) {
      std::vector<float> wide(65537, 7.0f);
      std::vector<uint16_t> back(65537, 7);
      kernels.widen(n, every.data(), wide.data());
      kernels.narrow(n, wide.data(), back.data());
      for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
        ASSERT_EQ(std::isnan(wide[i]), (every[i] & 0x7fff) > 0x7c00) << kernels.name;
        // What was NaN is a quiet NaN of the same payload.
        ASSERT_EQ(back[i], every[i] | (std::isnan(wide[i]) ? 0x200 : 0)) << kernels.name;
      }
      EXPECT_EQ(wide[static_cast<size_t>(n)], 7.0f) << "written past the end";
      EXPECT_EQ(back[static_cast<size_t>(n)], 7) << "written past the end";
    }
  }
}

TEST(HalfKernels, RoundToNearestEvenAtEveryBoundary) {
  // Half precision's neighbours are neighbours among its bits: between two, the middle goes to the even one.
  for (const HalfKernels& kernels : half_kernels()) {
    for (uint16_t low = 0; low < 0x7bff; ++low) {
      const uint16_t pair[2] = {low, static_cast<uint16_t>(low + 1)};
      float wide[2];
      kernels.widen(2, pair, wide);
      const float middle = 0.5f * (wide[0] + wide[1]);  // exact: float has 13 bits more
      const float around[3] = {std::nextafter(middle, 0.0f), middle, std::nextafter(middle, 1e9f)};
      uint16_t rounded[3];
      kernels.narrow(3, around, rounded);
      ASSERT_EQ(rounded[0], pair[0]) << kernels.name << ' ' << low;
      ASSERT_EQ(rounded[1], pair[low % 2 == 0 ? 0 : 1]) << kernels.name << ' ' << low;
      ASSERT_EQ(rounded[2], pair[1]) << kernels.name << ' ' << low;
    }
  }
}

}  // namespace
}  // namespace cladtorch::io
