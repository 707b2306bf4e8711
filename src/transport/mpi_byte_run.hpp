#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>

#include "core/narrow.hpp"
#include "transport/mpi_check.hpp"

namespace rondo::transport {

/// Any number of bytes in a row as the (count, datatype) of an MPI call, whose count is an int. One
/// message stays one message, so that MPI itself sees when two ranks disagree about its size.
class MpiByteRun {
 public:
  MpiByteRun(std::size_t bytes, std::size_t max_count) {
    if (bytes <= max_count)
      count_ = core::narrow<int>(bytes);
    else
      make_type(bytes, max_count);
  }
  ~MpiByteRun() {
    // MPI keeps the type until the operations that use it are complete.
    if (type_ != MPI_BYTE) MPI_Type_free(&type_);
  }
  MpiByteRun(const MpiByteRun&) = delete;
  MpiByteRun& operator=(const MpiByteRun&) = delete;

  int count() const { return count_; }
  MPI_Datatype type() const { return type_; }

 private:
  /// Whole chunks of max_count bytes, and the rest behind them.
  void make_type(std::size_t bytes, std::size_t max_count) {
    const std::size_t chunks = bytes / max_count;
    const std::size_t rest = bytes % max_count;
    MPI_Datatype chunk = MPI_DATATYPE_NULL;
    check(MPI_Type_contiguous(core::narrow<int>(max_count), MPI_BYTE, &chunk),
          "MPI_Type_contiguous");
    const std::array<int, 2> lengths{core::narrow<int>(chunks), core::narrow<int>(rest)};
    const std::array<MPI_Aint, 2> places{0, core::narrow<MPI_Aint>(bytes - rest)};
    const std::array<MPI_Datatype, 2> types{chunk, MPI_BYTE};
    check(MPI_Type_create_struct(2, lengths.data(), places.data(), types.data(), &type_),
          "MPI_Type_create_struct");
    check(MPI_Type_free(&chunk), "MPI_Type_free");
    check(MPI_Type_commit(&type_), "MPI_Type_commit");
    count_ = 1;
  }

  int count_ = 0;
  MPI_Datatype type_ = MPI_BYTE;
};

}  // namespace rondo::transport
