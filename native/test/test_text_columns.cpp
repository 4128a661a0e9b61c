// Columns that stand for texts: found as by a look at every text.
#include "learn/text_columns.hpp"
#include "test/check.hpp"

using namespace sapwood;
using namespace sapwood::test;

namespace {

std::vector<int> find(const TextColumns& columns, std::vector<std::string_view> row) {
    TextColumns::Scratch scratch;
    std::vector<int> found;
    columns.find(std::span<const std::string_view>(row), scratch, found);
    return found;
}

TEST(texts_of_features_and_groups) {
    // Features 0 and 1, and the group of both.
    const TextColumns columns(std::string("a\0b\0b\0c\0a|c\0", 12), {2, 4, 5}, {{0, 1}});
    CHECK(columns.size() == 5);
    CHECK((find(columns, {"a", "c"}) == std::vector<int>{0, 3, 4}));
    CHECK((find(columns, {"b", "b"}) == std::vector<int>{1, 2}));
    CHECK((find(columns, {"c", "a"}) == std::vector<int>{}));
    // What is empty is none, and neither is its group.
    CHECK((find(columns, {"", "c"}) == std::vector<int>{3}));
    CHECK((find(columns, {"a|c", ""}) == std::vector<int>{}));
}

TEST(many_texts) {
    std::string texts;
    for (int at = 0; at < 5000; ++at) texts.append(std::to_string(at % 2500)).push_back('\0');
    const TextColumns columns(std::move(texts), {2500, 5000}, {});
    for (int at = 0; at < 2600; ++at) {
        const std::string text = std::to_string(at), other = std::to_string(at / 2);
        const auto found = find(columns, {text, other});
        CHECK((found == (at < 2500 ? std::vector<int>{at, 2500 + at / 2} : std::vector<int>{2500 + at / 2})));
    }
}

}  // namespace
