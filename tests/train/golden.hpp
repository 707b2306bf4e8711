#pragma once

#include <cstddef>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <rondo/types.hpp>

namespace rondo::train::testing {

/// What PyTorch computed: a file that golden/make_golden.py wrote.
inline nlohmann::json golden(const std::string& name) {
  std::ifstream file(RONDO_TRAIN_GOLDEN_DIR "/" + name);
  if (!file) throw std::runtime_error("can't open " RONDO_TRAIN_GOLDEN_DIR "/" + name);
  return nlohmann::json::parse(file);
}

/// How far results may be from PyTorch's: it may use fused multiply-add, we don't.
template <class T>
inline constexpr double kTolerance = sizeof(T) == 8 ? 1e-12 : 1e-6;

template <class T>
void expect_near(std::span<const T> got, const std::vector<double>& expected,
                 const std::string& what, double tolerance = kTolerance<T>) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], expected[i], tolerance * std::max(1.0, std::abs(expected[i])))
        << what << ", element " << i;
}

}  // namespace rondo::train::testing
