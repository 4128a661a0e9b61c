// Projections and best vertices, against every vertex of the factor's polytope.
#include <cmath>
#include <random>

#include "check.hpp"
#include "decode/factors.hpp"

using namespace sapwood::decode;

namespace {

void expect(bool condition, const char* what, Kind kind, std::size_t size) {
    if (!CHECK(condition)) std::printf("    %s: kind %d, %zu literals\n", what, static_cast<int>(kind), size);
}

bool allowed(Kind kind, unsigned bits, std::size_t size, std::size_t limit) {
    const auto on = static_cast<std::size_t>(__builtin_popcount(bits));
    const bool out = bits >> (size - 1) & 1U;
    switch (kind) {
        case Kind::Xor:
            return on == 1;
        case Kind::AtMostOne:
            return on <= 1;
        case Kind::Or:
            return on >= 1;
        case Kind::OrOut:
            return out == (on > static_cast<std::size_t>(out));
        case Kind::Budget:
            return on <= limit;
        case Kind::Pair:
            return true;
    }
    return false;
}

TEST(best_vertices_and_projections_agree_with_enumeration) {
    std::mt19937_64 random(1);
    Scratch scratch;
    for (int round = 0; round < 20'000; ++round) {
        const auto kind = static_cast<Kind>(random() % 6);
        const std::size_t size = kind == Kind::Pair ? 2 : 2 + random() % 6, limit = random() % (size + 1);
        const bool ties = random() % 2;
        std::normal_distribution<double> normal(0.5, 1.0 + static_cast<double>(random() % 20));
        std::vector<double> point(size);
        for (double& value : point) value = ties ? std::round(normal(random)) : normal(random);
        const double score = kind == Kind::Pair ? normal(random) : 0.0;

        // The best vertex is the best of all vertices, and is one itself.
        std::vector<std::uint8_t> best(size);
        const double value = maximise(kind, point.data(), size, limit, score, scratch, best.data());
        double top = -1e300;
        unsigned chosen = 0;
        double earned = 0.0;
        for (std::size_t i = 0; i < size; ++i)
            if (best[i]) {
                chosen |= 1U << i;
                earned += point[i];
            }
        if (kind == Kind::Pair && chosen == 3) earned += score;
        for (unsigned bits = 0; bits < 1U << size; ++bits) {
            if (!allowed(kind, bits, size, limit)) continue;
            double total = kind == Kind::Pair && bits == 3 ? score : 0.0;
            for (std::size_t i = 0; i < size; ++i)
                if (bits >> i & 1U) total += point[i];
            top = std::max(top, total);
        }
        expect(std::fabs(value - top) < 1e-9, "best value", kind, size);
        expect(std::fabs(earned - top) < 1e-9 && allowed(kind, chosen, size, limit), "best vertex", kind, size);

        // A projection sees no vertex on the far side: (point - z) . (vertex - z) <= 0.
        if (kind == Kind::Pair) continue;
        std::vector<double> z(point);
        project(kind, z.data(), size, limit, 0.0, scratch);
        for (unsigned bits = 0; bits < 1U << size; ++bits) {
            if (!allowed(kind, bits, size, limit)) continue;
            double product = 0.0, scale = 1.0;
            for (std::size_t i = 0; i < size; ++i) {
                product += (point[i] - z[i]) * ((bits >> i & 1U) - z[i]);
                scale = std::max(scale, std::fabs(point[i]));
            }
            expect(product <= 1e-9 * scale * scale, "projection", kind, size);
        }
    }
}

}  // namespace
