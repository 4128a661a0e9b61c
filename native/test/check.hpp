// The whole test framework: checks that count and print failures, and a runner that names and times tests.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>

namespace sapwood::test {

inline int failures = 0;

// Under a sanitizer code runs many times slower, and so may what is timed.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr int kPatience = 20;
#else
inline constexpr int kPatience = 1;
#endif

inline bool report(bool passed, const char* what, const char* file, int line) {
    // A broken loop would print millions of lines; a few show enough.
    if (!passed && ++failures <= 20) std::printf("%s:%d: failed: %s\n", file, line, what);
    return passed;
}

inline bool report_close(double found, double expected, double tolerance, const char* what, const char* file,
                         int line) {
    const bool passed =
        found == expected || std::abs(found - expected) <= tolerance * std::max(1.0, std::abs(expected));
    if (!report(passed, what, file, line) && failures <= 20)
        std::printf("    found %.17g, expected %.17g\n", found, expected);
    return passed;
}

template <class Test>
void run(const char* name, Test test) {
    const auto start = std::chrono::steady_clock::now();
    const int before = failures;
    try {
        test();
    } catch (const std::exception& error) {
        std::printf("%s: unexpected exception: %s\n", name, error.what());
        ++failures;
    } catch (...) {
        std::printf("%s: unexpected exception\n", name);
        ++failures;
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::printf("%-4s %6.2f s  %s\n", failures == before ? "ok" : "FAIL", seconds.count(), name);
    std::fflush(stdout);
}

inline int finish() {
    if (failures > 0) std::printf("%d checks failed\n", failures);
    return failures == 0 ? 0 : 1;
}

}  // namespace sapwood::test

#define CHECK(condition) ::sapwood::test::report(static_cast<bool>(condition), #condition, __FILE__, __LINE__)
#define CHECK_CLOSE(found, expected) \
    ::sapwood::test::report_close((found), (expected), 1e-11, #found " == " #expected, __FILE__, __LINE__)
#define CHECK_THROWS(expression, type)                           \
    do {                                                         \
        bool thrown = false;                                     \
        try {                                                    \
            expression;                                          \
        } catch (const type&) {                                  \
            thrown = true;                                       \
        }                                                        \
        CHECK(thrown && "expected " #type " from " #expression); \
    } while (false)
#define RUN(function) ::sapwood::test::run(#function, function)
