#include "launch.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include <fmt/core.h>

#include <rondo/error.hpp>

#include "split.hpp"

namespace rondo::cuda {

namespace {

/// More blocks than run at once, so that those which end early leave room; few enough that each
/// has work for a while.
constexpr std::size_t kBlocksPerMultiprocessor = 32;

unsigned blocks_for(const Context& context, std::size_t threads) {
  const std::size_t most =
      kBlocksPerMultiprocessor * static_cast<std::size_t>(context.multiprocessors);
  return static_cast<unsigned>(std::min((threads + kThreads - 1) / kThreads, most));
}

unsigned blocks_for(const Context& context, const Split& split) {
  return blocks_for(context, split.steps != 0 ? split.steps : split.count);
}

void launch(const Queue& queue, const std::string& kernel, unsigned blocks, void** parameters) {
  const Context::Use use(queue.context);
  const Driver& driver = queue.context.driver;
  CUfunction function = queue.context.kernels.find(kernel);
  const CUresult result = driver.cuLaunchKernel(function, blocks, 1, 1, kThreads, 1, 1, 0,
                                                queue.stream, parameters, nullptr);
  if (result != CUDA_SUCCESS)
    driver.check(result,
                 fmt::format("cuLaunchKernel of {} on device {}", kernel, queue.context.device));
}

template <class Arguments>
void launch(const Queue& queue, const std::string& kernel, unsigned blocks, Arguments& arguments) {
  void* parameters[]{&arguments};
  launch(queue, kernel, blocks, parameters);
}

/// Sums and products of signed integers are those of unsigned ones.
DataType wrapping(DataType type) {
  switch (type) {
    case DataType::int8:
      return DataType::uint8;
    case DataType::int32:
      return DataType::uint32;
    case DataType::int64:
      return DataType::uint64;
    default:
      return type;
  }
}

DataType out_type(const core::Fold& fold) {
  return fold.partial ? accumulator_of(fold.type) : fold.type;
}

bool is_copy(const core::Conversion& conversion) {
  return conversion.from == conversion.to && conversion.scale == 1.0 && conversion.divisor == 1.0;
}

}  // namespace

std::string reduce_kernel(const core::Fold& fold) {
  const ReduceOp op = fold.op == ReduceOp::avg ? ReduceOp::sum : fold.op;
  const bool ordered = op == ReduceOp::min || op == ReduceOp::max;
  const auto name = [&](DataType type) { return name_of(ordered ? type : wrapping(type)); };
  return fmt::format("rondo_reduce_{}_{}_{}", name(fold.type), name(out_type(fold)), name_of(op));
}

std::string convert_kernel(const core::Conversion& conversion) {
  if (is_copy(conversion)) return "rondo_convert_uint8_uint8";
  return fmt::format("rondo_convert_{}_{}", name_of(conversion.from), name_of(conversion.to));
}

void launch_reduce(const Queue& queue, const core::Fold& fold, std::span<const void* const> sources,
                   void* out, std::size_t count) {
  if (sources.size() > kMostSources)
    throw Error(ErrorCode::usage, fmt::format("a reduction of {} sources; a device takes {}",
                                              sources.size(), kMostSources));
  if (count == 0) return;
  ReduceArguments arguments{};
  std::ranges::copy(sources, arguments.sources);
  arguments.source_count = static_cast<int>(sources.size());
  arguments.out = out;
  arguments.split = split({size_of(fold.type), size_of(out_type(fold))}, sources, out, count);
  arguments.scale = fold.scale;
  arguments.divisor = fold.divisor;
  launch(queue, reduce_kernel(fold), blocks_for(queue.context, arguments.split), arguments);
}

void launch_convert(const Queue& queue, const core::Conversion& conversion,
                    std::span<const device::Stream::Piece> pieces) {
  const bool copy = is_copy(conversion);
  const ElementSizes sizes =
      copy ? ElementSizes{1, 1} : ElementSizes{size_of(conversion.from), size_of(conversion.to)};
  ConvertArguments arguments{};
  arguments.scale = conversion.scale;
  arguments.divisor = conversion.divisor;
  unsigned blocks = 0;
  const auto flush = [&] {
    if (arguments.piece_count != 0) launch(queue, convert_kernel(conversion), blocks, arguments);
    arguments.piece_count = 0;
    blocks = 0;
  };
  for (const device::Stream::Piece& piece : pieces) {
    if (piece.count == 0) continue;
    if (arguments.piece_count == kMostPieces) flush();
    const std::size_t count = copy ? piece.count * size_of(conversion.from) : piece.count;
    ConvertArguments::Piece& next = arguments.pieces[arguments.piece_count++];
    next = {piece.from, piece.to, split(sizes, {&piece.from, 1}, piece.to, count), blocks, 0};
    next.blocks = blocks_for(queue.context, next.split);
    blocks += next.blocks;
  }
  flush();
}

void launch_job(const Queue& queue, const device::Job& job) {
  if (job.count == 0) return;
  EachArguments arguments{job.count, {}};
  if (job.arrays.size() > std::size(arguments.arrays))
    throw Error(ErrorCode::usage,
                fmt::format("{} takes {} arrays; a kernel takes {} at most", job.kernel,
                            job.arrays.size(), std::size(arguments.arrays)));
  std::ranges::transform(job.arrays, arguments.arrays,
                         [](const device::Job::Array& array) { return array.data; });
  void* parameters[]{const_cast<void*>(job.function), &arguments};
  launch(queue, std::string(job.kernel), blocks_for(queue.context, job.count), parameters);
}

}  // namespace rondo::cuda
