// Leaving the process while a thread is at work in a library that does not survive its own destructors.
#include <nanobind/nanobind.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#ifdef __GLIBC__
#include <unistd.h>
#endif

namespace nb = nanobind;

namespace sapwood::bind {

namespace {

std::atomic<int> at_work{0};

#ifdef __GLIBC__
// OpenBLAS takes its memory and its threads down in a destructor of the library, whoever is still computing there:
// that is a crash, or a wait without end. Python has finished by then, so nothing is lost by leaving before it.
void leave(int status, void*) {
    if (at_work.load() == 0) return;
    std::fflush(nullptr);
    _exit(status);
}
#endif

void begin() {
#ifdef __GLIBC__
    static const int registered = on_exit(leave, nullptr);
    static_cast<void>(registered);
#endif
    ++at_work;
}

void end() { --at_work; }

}  // namespace

void register_exits(nb::module_& module) {
    nb::module_ exits = module.def_submodule("exits");
    exits.def("begin_unstoppable", &begin,
              "Note that work begins which cannot be stopped, and may still go on when the process ends.");
    exits.def("end_unstoppable", &end, "Note that such work has ended.");
}

}  // namespace sapwood::bind
