// Running native work so that Python stays in charge: the GIL is released, Ctrl-C is noticed, progress is reported.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <exception>
#include <functional>

#include "crew.hpp"
#include "parallel.hpp"

namespace sapwood::bind {

namespace nb = nanobind;

// Has a helper run work(control) while this thread polls for signals and calls progress(done) if it is not None.
// Work known to be short can run in place, which saves waking one.
template <class Work>
void watch(bool brief, nb::handle progress, Work work) {
    Control control;
    if (brief) {
        nb::gil_scoped_release release;
        work(control);
        return;
    }
    std::exception_ptr failure;
    const std::function<void()> guarded = [&] {
        try {
            work(control);
        } catch (...) {
            failure = std::current_exception();
        }
    };
    Crew::Errand errand(Crew::here(), guarded);
    if (!errand.taken()) {
        // No room for another thread, as under a limit on memory: the work is done, only Ctrl-C must wait.
        nb::gil_scoped_release release;
        work(control);
        return;
    }
    bool interrupted = false;
    nb::python_error* raised = nullptr;
    for (bool over = false; !over;) {
        {
            nb::gil_scoped_release release;
            over = errand.wait_for(std::chrono::milliseconds(50));
        }
        if (over || interrupted) continue;
        try {
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
            if (!progress.is_none()) progress(control.done.load());
        } catch (nb::python_error& error) {
            raised = new nb::python_error(error);
            interrupted = true;
            control.cancel = true;
        }
    }
    if (raised) {
        nb::python_error copy(*raised);
        delete raised;
        throw copy;
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace sapwood::bind
