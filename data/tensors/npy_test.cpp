#include "cladtorch/data/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "cladtorch/error.h"
#include "cladtorch/tensor/factories.h"
#include "io/temporary_folder.h"

namespace cladtorch::data {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

template <class T>
std::vector<T> values(const Tensor& x) {
  return std::vector<T>(x.data<T>(), x.data<T>() + x.numel());
}

template <class T>
std::string bytes(std::initializer_list<T> elements) {
  return {reinterpret_cast<const char*>(elements.begin()), elements.size() * sizeof(T)};
}

std::string npy(const std::string& header, const std::string& elements, char version = 1) {
  std::string length = {static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  if (version > 1) length += std::string(2, '\0');
  return std::string("\x93NUMPY") + version + '\0' + length + header + elements;
}

std::string dict(const std::string& type, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + type + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }\n";
}

class Npy : public ::testing::Test {
 protected:
  Tensor read(const std::string& content) { return read_npy(folder_.write("x.npy", content)); }
  std::string error_of(const std::string& content) {
    const std::string message = io::error_of([&] { read(content); });
    EXPECT_THAT(message, HasSubstr((folder_ / "x.npy").string()));
    EXPECT_EQ(message.find('\n'), std::string::npos);
    return message;
  }

  io::TemporaryFolder folder_;
};

TEST_F(Npy, KeepsWhatItWrites) {
  const Tensor x = from_values<float>({2, 3}, {1, -2, 3.5, 0, 5, 6});
  for (const Tensor& tensor :
       {x, x.to(DType::float64), x.to(DType::int32), x.to(DType::int64), x.to(DType::boolean), x.select(0, 0),
        x.select(0, 0).select(0, 1), empty({0, 4}), x.transpose(0, 1)}) {
    write_npy(folder_ / "y.npy", tensor);
    const Tensor again = read_npy(folder_ / "y.npy");
    EXPECT_EQ(again.dtype(), tensor.dtype());
    EXPECT_EQ(again.shape(), tensor.shape());
    EXPECT_EQ(again.to_string(), tensor.to_string());
    // The elements of a mapped file should be aligned.
    EXPECT_EQ((folder_.read("y.npy").size() - tensor.nbytes()) % 64, 0u);
  }
}

TEST_F(Npy, WritesWhatNumPyWrites) {
  write_npy(folder_ / "y.npy", from_values<float>({2, 1}, {1, 2}));
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }";
  header += std::string(117 - header.size(), ' ') + "\n";
  EXPECT_EQ(folder_.read("y.npy"), npy(header, bytes<float>({1, 2})));
  write_npy(folder_ / "y.npy", from_values<float>({1}, {2}).to(DType::bfloat16));
  EXPECT_THAT(folder_.read("y.npy"), HasSubstr("'<f4', 'fortran_order': False, 'shape': (1,), }"));
  write_npy(folder_ / "y.npy", full({}, 1, DType::float64));
  EXPECT_THAT(folder_.read("y.npy"), HasSubstr("'<f8', 'fortran_order': False, 'shape': (), }"));
}

TEST_F(Npy, ReadsEveryVersion) {
  for (const char version : {1, 2, 3}) {
    const Tensor x = read(npy(dict("<f8", "(2,)"), bytes<double>({1, 2}), version));
    EXPECT_THAT(values<double>(x), ElementsAre(1, 2));
  }
}

TEST_F(Npy, ReadsFortranOrder) {
  const Tensor x = read(npy(dict("<i4", "(2, 3)", true), bytes<int32_t>({1, 2, 3, 4, 5, 6})));
  EXPECT_EQ(x.shape(), (Shape{2, 3}));
  EXPECT_TRUE(x.is_contiguous());
  EXPECT_THAT(values<int32_t>(x), ElementsAre(1, 3, 5, 2, 4, 6));
  EXPECT_THAT(values<int32_t>(read(npy(dict("<i4", "(2,)", true), bytes<int32_t>({1, 2})))),
              ElementsAre(1, 2));
  EXPECT_EQ(read(npy(dict("<i4", "()", true), bytes<int32_t>({7}))).item(), 7);
}

TEST_F(Npy, ReadsEveryType) {
  const auto integers = [&](const char* type, const std::string& elements) {
    return values<int32_t>(read(npy(dict(type, "(2,)"), elements)));
  };
  const auto wide = [&](const char* type, const std::string& elements) {
    return values<int64_t>(read(npy(dict(type, "(2,)"), elements)));
  };
  EXPECT_THAT(values<bool>(read(npy(dict("|b1", "(3,)"), bytes<uint8_t>({0, 1, 2})))),
              ElementsAre(false, true, true));
  EXPECT_THAT(integers("|u1", bytes<uint8_t>({0, 255})), ElementsAre(0, 255));
  EXPECT_THAT(integers("|i1", bytes<int8_t>({-1, 2})), ElementsAre(-1, 2));
  EXPECT_THAT(integers("<u2", bytes<uint16_t>({65535, 2})), ElementsAre(65535, 2));
  EXPECT_THAT(integers("<i2", bytes<int16_t>({-3, 2})), ElementsAre(-3, 2));
  EXPECT_THAT(wide("<u4", bytes<uint32_t>({0xffffffff, 2})), ElementsAre(0xffffffff, 2));
  EXPECT_THAT(integers("<i4", bytes<int32_t>({-3, 2})), ElementsAre(-3, 2));
  EXPECT_THAT(wide("<u8", bytes<uint64_t>({1, 2})), ElementsAre(1, 2));
  EXPECT_THAT(wide("<i8", bytes<int64_t>({std::numeric_limits<int64_t>::min(), 2})),
              ElementsAre(std::numeric_limits<int64_t>::min(), 2));
  EXPECT_THAT(values<float>(read(npy(dict("<f2", "(2,)"), bytes<uint16_t>({0x3c00, 0xc100})))),
              ElementsAre(1, -2.5));
}

TEST_F(Npy, RefusesIntegersThatDoNotFit) {
  EXPECT_THAT(error_of(npy(dict("<u8", "(2,)"), bytes<uint64_t>({1, uint64_t{1} << 63}))),
              HasSubstr("has the value 9223372036854775808 at element 1, which does not fit in int64"));
}

TEST_F(Npy, SaysWhatIsWrongWithAFile) {
  EXPECT_THAT(error_of(""), HasSubstr("is no .npy file"));
  EXPECT_THAT(error_of("not a numpy file"), HasSubstr("is no .npy file"));
  EXPECT_THAT(error_of(npy(dict("<f4", "(1,)"), "abcd", 4)), HasSubstr("has version 4"));
  EXPECT_THAT(error_of(npy(dict("<f4", "(1,)"), "").substr(0, 30)), HasSubstr("ends too early"));
  EXPECT_THAT(error_of(npy(dict("<f4", "(2, 2)"), std::string(15, 'x'))),
              EndsWith("ends too early: [2,2] elements take 16 bytes, but only 15 follow its header"));
  EXPECT_THAT(error_of(npy(dict("<f4", "(2, 2)"), std::string(17, 'x'))),
              EndsWith("has 1 bytes after its [2,2] elements"));
  EXPECT_THAT(error_of(npy(dict("<f4", "(1, 1, 1, 1, 1, 1, 1, 1, 1)"), "abcd")),
              HasSubstr("has 9 dimensions"));
  EXPECT_THAT(error_of(npy(dict("<f4", "(4000000000, 4000000000)"), "")), HasSubstr("overflows"));
  EXPECT_THAT(error_of(npy(dict(">f4", "(1,)"), "abcd")), HasSubstr("big-endian"));
  EXPECT_THAT(error_of(npy(dict("|O", "(1,)"), "abcd")), HasSubstr("Python objects are not read"));
  EXPECT_THAT(error_of(npy(dict("<c8", "(1,)"), "abcdefgh")), HasSubstr("'<c8'"));
  EXPECT_THAT(error_of(npy("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,), }\n", "abcd")),
              HasSubstr("structured array"));
  for (const char* header :
       {"", "{", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 1}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} more",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}"})
    EXPECT_THAT(error_of(npy(header, "abcd")), HasSubstr("has a header that NumPy does not write"));
}

TEST_F(Npy, WritesNoOtherTypes) {
  EXPECT_THAT(io::error_of([&] { write_npy(folder_ / "y.npy", Tensor()); }),
              EndsWith("the tensor is undefined"));
  EXPECT_THAT(io::error_of([&] { write_npy(folder_ / "y.npy", empty({1}, DType::float8_e4m3)); }),
              EndsWith("got float8_e4m3"));
}

class Npz : public Npy {
 protected:
  NamedArrays arrays() {
    return {{"x", from_values<float>({2, 2}, {1, 2, 3, 4})},
            {"h.0.weight", zeros({100, 100}, DType::float64)},
            {"n", from_values<int32_t>({}, {5})}};
  }
  std::string error_of(const std::string& content) {
    const std::string message = io::error_of([&] { read_npz(folder_.write("x.npz", content)); });
    EXPECT_THAT(message, StartsWith("read_npz: "));
    EXPECT_THAT(message, HasSubstr((folder_ / "x.npz").string()));
    EXPECT_EQ(message.find('\n'), std::string::npos);
    return message;
  }
};

TEST_F(Npz, KeepsWhatItWrites) {
  for (const bool compressed : {false, true}) {
    write_npz(folder_ / "y.npz", arrays(), {.compressed = compressed});
    const size_t size = folder_.read("y.npz").size();
    EXPECT_TRUE(compressed ? size < 2000 : size > 80000) << size;
    const NamedArrays again = read_npz(folder_ / "y.npz");
    ASSERT_EQ(again.size(), 3u);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(again[i].first, arrays()[i].first);
      EXPECT_EQ(again[i].second.dtype(), arrays()[i].second.dtype());
      EXPECT_EQ(again[i].second.shape(), arrays()[i].second.shape());
      EXPECT_EQ(again[i].second.to_string(), arrays()[i].second.to_string());
    }
    EXPECT_EQ(read_npz(folder_ / "y.npz", "n").item(), 5);
    EXPECT_THAT(io::error_of([&] { read_npz(folder_ / "y.npz", "m"); }),
                EndsWith("has no array 'm'; it has: x, h.0.weight, n"));
  }
}

TEST_F(Npz, GivesTheSameBytesForTheSameArrays) {
  write_npz(folder_ / "y.npz", arrays(), {.compressed = true});
  write_npz(folder_ / "z.npz", arrays(), {.compressed = true});
  EXPECT_EQ(folder_.read("y.npz"), folder_.read("z.npz"));
}

TEST_F(Npz, TakesNoArrays) {
  write_npz(folder_ / "y.npz", {});
  EXPECT_TRUE(read_npz(folder_ / "y.npz").empty());
  EXPECT_THAT(folder_.read("y.npz"), StartsWith("PK\5\6"));  // as np.savez(file)
}

/// np.savez_compressed(file, x=np.asfortranarray(np.arange(6, dtype="f4").reshape(2, 3)), n=np.array([7,
/// -1]))
std::string written_by_numpy() {
  const std::string digits =
      "504b03042d000000080000002100ce2ce0d3ffffffffffffffff05001400782e6e707901001000980000000000000056"
      "000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9366a2aea3a09e965f54529498179f5f94920a"
      "120f292a4d050a17672416a402b91a463a0ac69a3a0ab50ae4032e06307070606068b007620710878161810300504b03"
      "042d000000080000002100e092cebcffffffffffffffff050014006e2e6e70790100100090000000000000004a000000"
      "000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9369a1aea3a09e965f54529498179f5f94920a12774b"
      "cc294e058a17672416a402f91a463a9a3a0ab50a14002e760608f80f0500504b01022d032d000000080000002100ce2c"
      "e0d35600000098000000050000000000000000000000800100000000782e6e7079504b01022d032d0000000800000021"
      "00e092cebc4a0000009000000005000000000000000000000080018d0000006e2e6e7079504b05060000000002000200"
      "660000000e0100000000";
  std::string file;
  for (size_t i = 0; i < digits.size(); i += 2)
    file += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return file;
}

TEST_F(Npz, ReadsWhatNumPyWrote) {
  const NamedArrays arrays = read_npz(folder_.write("x.npz", written_by_numpy()));
  ASSERT_EQ(arrays.size(), 2u);
  EXPECT_EQ(arrays[0].first, "x");
  EXPECT_EQ(arrays[0].second.shape(), (Shape{2, 3}));
  EXPECT_THAT(values<float>(arrays[0].second), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(arrays[1].first, "n");
  EXPECT_THAT(values<int64_t>(arrays[1].second), ElementsAre(7, -1));
}

TEST_F(Npz, SaysWhatIsWrongWithAFile) {
  EXPECT_THAT(error_of(""), HasSubstr("is no .npz file"));
  EXPECT_THAT(error_of(npy(dict("<f4", "(1,)"), "abcd")), HasSubstr("is no .npz file"));
  const std::string file = written_by_numpy();
  for (size_t size = 0; size < file.size(); ++size)
    EXPECT_THAT(error_of(file.substr(0, size)), HasSubstr("ends too early"));
  // What lies before a directory moves everything.
  EXPECT_THAT(error_of("more" + file), HasSubstr("is a damaged ZIP archive"));
  std::string other = file;
  for (size_t at = other.find("x.npy"); at != std::string::npos; at = other.find("x.npy"))
    other.replace(at, 5, "x.txt");
  EXPECT_THAT(error_of(other), EndsWith("has a member 'x.txt' that is no array"));
}

/// Whatever byte is damaged, the arrays are read as they were, or there is an error.
TEST_F(Npz, NoticesDamage) {
  for (const bool compressed : {false, true}) {
    const NamedArrays arrays = {{"x", from_values<float>({4}, {1, 2, 3, 4})}};
    write_npz(folder_ / "y.npz", arrays, {.compressed = compressed});
    const std::string file = folder_.read("y.npz");
    for (size_t i = 0; i < file.size(); ++i) {
      std::string damaged = file;
      damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
      folder_.write("z.npz", damaged);
      try {
        for (const auto& [name, tensor] : read_npz(folder_ / "z.npz"))
          EXPECT_THAT(values<float>(tensor), ElementsAre(1, 2, 3, 4)) << i;
      } catch (const Error&) {
      }
    }
  }
}

TEST_F(Npz, SaysWhatIsNotRead) {
  std::string file = written_by_numpy();
  const size_t directory = file.find("PK\1\2");
  std::string encrypted = file, other = file;
  encrypted[directory + 8] = 1;
  EXPECT_THAT(error_of(encrypted), EndsWith("has a member 'x.npy' that is encrypted"));
  other[directory + 10] = 12;
  EXPECT_THAT(error_of(other),
              EndsWith("has a member 'x.npy' that is compressed by method 12, expected deflate"));
}

TEST_F(Npz, RefusesNamesThatAreThereTwice) {
  EXPECT_THAT(io::error_of([&] { write_npz(folder_ / "y.npz", {{"x", zeros({1})}, {"x", zeros({1})}}); }),
              EndsWith("is there twice"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "y.npz"));
}

}  // namespace
}  // namespace cladtorch::data
