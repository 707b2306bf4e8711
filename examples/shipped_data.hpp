#pragma once

#include <string>

/// The path of a data file that comes with Rondo, wherever the program was started from: beside the
/// program, in ../share/rondo/data of where it is installed, or in the source tree that it was
/// built from. Throws rondo::Error(system) listing the places when it is in none of them.
std::string find_shipped_data(const std::string& name);
