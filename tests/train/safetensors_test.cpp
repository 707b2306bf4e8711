#include "train/safetensors.hpp"

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <rondo/error.hpp>

#include "support/expect_error.hpp"

namespace rondo::train {
namespace {

using rondo::testing::expect_error;

class Safetensors : public ::testing::Test {
 protected:
  Safetensors() { std::iota(weight_.begin(), weight_.end(), 1.0F); }

  std::vector<ArrayView> views() {
    return {{"weight", DataType::float32, {2, 3}, weight_.data()},
            {"loss", DataType::float64, {}, &loss_},
            {"empty", DataType::int8, {0, 4}, nullptr},
            {"step", DataType::int64, {}, &step_}};
  }
  std::string image() {
    const SafetensorsImage pieces(views());
    std::string bytes;
    for (const std::string_view piece : pieces.pieces()) bytes += piece;
    return bytes;
  }
  /// Expects `bytes` to be refused with a message that has `part`.
  static void expect_refused(const std::string& bytes, const std::string& part) {
    expect_error(ErrorCode::corrupt_file, {"'model'", "cannot be used", part},
                 [&] { SafetensorsFile(bytes, "model"); });
  }

  std::vector<float> weight_ = std::vector<float>(6);
  double loss_ = 1.0 / 3;
  std::int64_t step_ = 7;
};

TEST_F(Safetensors, GiveBackWhatWasPutIn) {
  const SafetensorsFile file(image(), "model");
  file.check_holds(views());
  EXPECT_EQ(std::memcmp(file.data("weight"), weight_.data(), 24), 0);
  EXPECT_EQ(std::memcmp(file.data("loss"), &loss_, 8), 0);
  EXPECT_EQ(std::memcmp(file.data("step"), &step_, 8), 0);
}

TEST_F(Safetensors, AreLaidOutAsTheFormatSays) {
  const std::string bytes = image();
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), 8);
  EXPECT_EQ(header % 8, 0U);
  EXPECT_EQ(bytes[8], '{');
  EXPECT_EQ(bytes.size(), 8 + header + 8 + 8 + 24);
  const std::string text = bytes.substr(8, header);
  for (const char* entry : {R"("weight":{"data_offsets":[16,40],"dtype":"F32","shape":[2,3]})",
                            R"("loss":{"data_offsets":[0,8],"dtype":"F64","shape":[]})"})
    EXPECT_NE(text.find(entry), std::string::npos) << text;
}

TEST_F(Safetensors, OfAnotherModelAreRefused) {
  const SafetensorsFile file(image(), "model");
  const auto refused = [&](const std::vector<ArrayView>& needed,
                           const std::vector<std::string>& parts) {
    expect_error(ErrorCode::usage, parts, [&] { file.check_holds(needed); });
  };
  auto other = views();
  other[0].shape = {3, 2};
  refused(other, {"'weight'", "float32 [2, 3]", "float32 [3, 2] is needed"});
  other = views();
  other[1].type = DataType::int64;
  refused(other, {"'loss'", "float64 []", "int64 []"});
  other = views();
  other.pop_back();
  refused(other, {"'step'", "no use"});
  other = views();
  other.push_back({"more", DataType::float64, {}, &loss_});
  refused(other, {"no array 'more'"});
}

TEST_F(Safetensors, RefuseTwoArraysOfOneName) {
  auto twice = views();
  twice[1].name = "weight";
  expect_error(ErrorCode::usage, {"'weight'"}, [&] { SafetensorsImage{twice}; });
}

TEST_F(Safetensors, CutShortAnywhereAreRefused) {
  const std::string whole = image();
  for (std::size_t length = 0; length < whole.size(); ++length)
    expect_refused(whole.substr(0, length), "");
  expect_refused(whole + "x", "after the last array");
}

TEST_F(Safetensors, WithAnImpossibleHeaderAreRefused) {
  const std::string whole = image();
  const auto with_header = [&](const std::string& header) {
    std::uint64_t length = 0;
    std::memcpy(&length, whole.data(), 8);
    const std::uint64_t now = header.size();
    return std::string(reinterpret_cast<const char*>(&now), 8) + header + whole.substr(8 + length);
  };
  const auto entry = [](const std::string& dtype, const std::string& shape,
                        const std::string& offsets) {
    return R"({"a":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" +
           offsets + "}}";
  };
  const std::vector<std::pair<std::string, std::string>> headers{
      {"", "header"},
      {"{", "header"},
      {"[]", "header"},
      {"{} {}", "header"},
      {R"({"a":7})", "header"},
      {R"({"a":{}})", "header"},
      {entry("F33", "[10]", "[0,40]"), "unknown type F33"},
      {entry("F32", "[-10]", "[0,40]"), "negative or not whole"},
      {entry("F32", "[10.0]", "[0,40]"), "negative or not whole"},
      {entry("F32", "[10]", "[0]"), "header"},
      {entry("F32", "[10]", "[40,0]"), "beyond the end"},
      {entry("F32", "[11]", "[0,44]"), "beyond the end"},
      {entry("F32", "[9]", "[0,40]"), "shape of 'a'"},
      {entry("F32", "[4611686018427387914]", "[0,40]"), "shape of 'a'"},
      {entry("F32", "[9]", "[4,40]"), "overlap or leave a gap"},
      {entry("F32", "[9]", "[0,36]"), "after the last array"},
      {"{}", "after the last array"},
      {R"({"__metadata__":{"format":"pt"}})", "after the last array"},
      {R"({"a":{"dtype":"F64","shape":[3],"data_offsets":[0,24]},)"
       R"("b":{"dtype":"F64","shape":[3],"data_offsets":[16,40]}})",
       "overlap or leave a gap"},
  };
  for (const auto& [header, part] : headers) expect_refused(with_header(header), part);
}

TEST_F(Safetensors, WithAnImpossibleHeaderLengthAreRefused) {
  std::string bytes = image();
  for (const std::uint64_t length : {std::uint64_t{99'999'999}, ~std::uint64_t{0}}) {
    std::memcpy(bytes.data(), &length, 8);
    expect_refused(bytes, "");
  }
}

}  // namespace
}  // namespace rondo::train
