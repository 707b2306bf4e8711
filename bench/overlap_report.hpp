#pragma once

#include <string>

#include "meta.hpp"
#include "mpi_overlap_protocol.hpp"
#include "overlap_arguments.hpp"

namespace rondo::bench {

void print(const Meta& meta, const OverlapArguments& arguments, const OverlapResult& result);

/// docs/benchmarks.md describes it.
std::string json_text(const Meta& meta, const OverlapArguments& arguments,
                      const OverlapResult& result);

}  // namespace rondo::bench
