// Running native work so that it can be interrupted: the GIL is released, Ctrl-C is noticed, progress is reported.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <exception>
#include <functional>

#include "core/parallel.hpp"
#include "core/thread_pool.hpp"

namespace sapwood::bind {

namespace nb = nanobind;

// The argument `progress` of a binding: called now and then with the number of items done, or None.
class Progress : public nb::object {
    static bool is_valid_progress(PyObject* object) { return object == Py_None || PyCallable_Check(object); }
    NB_OBJECT_DEFAULT(Progress, nb::object, "collections.abc.Callable[[int], None]", is_valid_progress)
};

// Runs work(control) on another thread while this one polls for signals and calls progress(done) if it is not None.
// Work known to be short (brief) runs in place, which saves waking a thread.
template <class Work>
void run_interruptible(bool brief, nb::handle progress, Work work) {
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
    ThreadPool::Task task(ThreadPool::instance(), guarded);
    if (!task.started()) {
        // No thread could be started, as under a limit on memory: the work is done here, and Ctrl-C has to wait.
        nb::gil_scoped_release release;
        work(control);
        return;
    }
    bool interrupted = false;
    nb::python_error* raised = nullptr;
    for (bool over = false; !over;) {
        {
            nb::gil_scoped_release release;
            over = task.wait_for(std::chrono::milliseconds(50));
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
