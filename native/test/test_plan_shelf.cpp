// Plans that are kept as long as they will be asked for: always those that were asked for, and made no more often than
// there is room.
#include <algorithm>
#include <random>

#include "kernels/plan_shelf.hpp"
#include "test/check.hpp"

using namespace sapwood;
using namespace sapwood::test;

namespace {

struct Numbers {
    std::vector<std::uint32_t> held;
    std::size_t size() const { return held.size(); }
};

TEST(plans_are_those_asked_for) {
    std::mt19937 draw(1);
    std::uniform_int_distribution<std::uint32_t> below(0, 49);
    std::vector<std::uint32_t> asked, uses(50, 0);
    for (int round = 0; round < 3000; ++round) asked.push_back(std::min(below(draw), below(draw)));
    for (const std::uint32_t thing : asked) ++uses[thing];
    std::size_t before = asked.size() + 1;
    for (const std::size_t room : {0UL, 1000UL, 2000UL, 1UL << 20}) {
        PlanShelf<Numbers> shelf(uses, room);
        std::size_t made = 0;
        for (int time = 0; time < 2; ++time) {
            made = 0;
            for (const std::uint32_t thing : asked) {
                const Numbers& found = shelf.get(thing, [&](Numbers& fresh) {
                    fresh.held.assign(thing + 1, thing);
                    ++made;
                });
                CHECK((found.held == std::vector<std::uint32_t>(thing + 1, thing)));
            }
            shelf.clear();
        }
        CHECK(made < before);  // the more room, the better
        before = made;
    }
    CHECK(before == static_cast<std::size_t>(std::count_if(uses.begin(), uses.end(), [](auto n) { return n > 0; })));
}

TEST(plans_may_be_asked_for_more_often) {
    PlanShelf<Numbers> shelf({1, 2}, 100);
    std::size_t made = 0;
    for (int time = 0; time < 5; ++time)
        for (const std::uint32_t thing : {0U, 1U}) {
            const Numbers& found = shelf.get(thing, [&](Numbers& fresh) {
                fresh.held.assign(3, thing);
                ++made;
            });
            CHECK((found.held == std::vector<std::uint32_t>(3, thing)));
        }
    CHECK(made == 5 + 4);
}

}  // namespace
