#include "transport/mpi_finalize.hpp"

#include <mpi.h>

#include <mutex>
#include <vector>

#include "transport/mpi_check.hpp"

namespace rondo::transport {

namespace {

/// MPI_Finalize begins by deleting the attributes of MPI_COMM_SELF (MPI 3.1, section 8.7.1): the
/// one that is set here calls the listeners.
struct Hook {
  std::mutex mutex;
  std::vector<FinalizeListener*> listeners;
  bool installed = false;
};

Hook& hook() {
  static Hook& hook = *new Hook;  // never destroyed: MPI_Finalize may run after main()
  return hook;
}

extern "C" int call_finalize_listeners(MPI_Comm, int, void*, void*) {
  std::vector<FinalizeListener*> listeners;
  {
    const std::lock_guard lock(hook().mutex);
    listeners.swap(hook().listeners);
  }
  for (FinalizeListener* listener : listeners) listener->before_finalize();
  return MPI_SUCCESS;
}

void install() {
  int key = MPI_KEYVAL_INVALID;
  check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &call_finalize_listeners, &key, nullptr),
        "MPI_Comm_create_keyval");
  check(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "MPI_Comm_set_attr");
  check(MPI_Comm_free_keyval(&key), "MPI_Comm_free_keyval");
}

}  // namespace

void add_finalize_listener(FinalizeListener& listener) {
  const std::lock_guard lock(hook().mutex);
  if (!hook().installed) install();
  hook().installed = true;
  hook().listeners.push_back(&listener);
}

void remove_finalize_listener(FinalizeListener& listener) noexcept {
  const std::lock_guard lock(hook().mutex);
  std::erase(hook().listeners, &listener);
}

}  // namespace rondo::transport
