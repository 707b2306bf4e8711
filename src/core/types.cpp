#include <rondo/types.hpp>

#include <array>

namespace rondo {

namespace {
constexpr std::array<std::string_view, kDataTypes> kTypeNames{
    "int8",   "uint8",   "int32",    "uint32",  "int64",
    "uint64", "float16", "bfloat16", "float32", "float64"};
constexpr std::array<std::string_view, kReduceOps> kOpNames{"sum", "prod", "min", "max", "avg"};
}  // namespace

std::string_view name_of(DataType type) { return kTypeNames[static_cast<std::size_t>(type)]; }

std::string_view name_of(ReduceOp op) { return kOpNames[static_cast<std::size_t>(op)]; }

}  // namespace rondo
