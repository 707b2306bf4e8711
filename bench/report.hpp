#pragma once

#include <string>
#include <vector>

#include "meta.hpp"
#include "mpi_protocol.hpp"

namespace rondo::bench {

/// The explanation and the head of the table.
void print_head(const Meta& meta);
/// The rows of one workload; their ratios say how much faster the first of them is.
void print_rows(const std::vector<Row>& rows);

/// docs/benchmarks.md describes both formats.
std::string json_text(const Meta& meta, const std::vector<Row>& rows);
std::string csv_text(const Meta& meta, const std::vector<Row>& rows);

}  // namespace rondo::bench
