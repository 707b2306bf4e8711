// The functions of src/train/functions that work on whole rows or columns.
#include "../kernels/each.cuh"
#include "train/functions/losses.hpp"
#include "train/functions/rows.hpp"

using namespace rondo::train;

RONDO_EACH_OF(fill_row, FillRow)
RONDO_EACH_OF(sum_columns, SumColumns)
RONDO_EACH_OF(squared_error, SquaredError)
RONDO_EACH_OF(cross_entropy, CrossEntropy)
