// Running native work so that Python stays in charge: the GIL is released, Ctrl-C is noticed, progress is reported.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "parallel.hpp"

namespace sapwood::bind {

namespace nb = nanobind;

// Runs work(control) on another thread while this one polls for signals and calls progress(done) if it is not None.
// Work known to be short can run in place, which saves starting a thread.
template <class Work>
void watch(bool brief, nb::handle progress, Work work) {
    Control control;
    if (brief) {
        nb::gil_scoped_release release;
        work(control);
        return;
    }
    std::exception_ptr failure;
    std::mutex lock;
    std::condition_variable finished;
    bool done = false;
    std::thread runner;
    try {
        runner = std::thread([&] {
            try {
                work(control);
            } catch (...) {
                failure = std::current_exception();
            }
            const std::lock_guard<std::mutex> hold(lock);
            done = true;
            finished.notify_one();
        });
    } catch (const std::system_error&) {
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
            std::unique_lock<std::mutex> hold(lock);
            over = finished.wait_for(hold, std::chrono::milliseconds(50), [&] { return done; });
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
    runner.join();
    if (raised) {
        nb::python_error copy(*raised);
        delete raised;
        throw copy;
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace sapwood::bind
