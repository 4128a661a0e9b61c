// Which column of a matrix stands for a value of a feature, where values are texts: also of features whose values are
// those of several others, joined.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/hash_tables.hpp"

namespace sapwood {

class TextColumns {
  public:
    // What find needs beside the columns.
    struct Scratch {
        struct Asked {
            std::uint32_t feature, hash;
            std::string_view text;
        };
        std::vector<Asked> asked;
        std::string joined;
    };

    // Texts hold the values of all features in the order of their columns, NUL behind each; ends say for each feature
    // how many there are up to its last one. The last features are groups of those before them.
    TextColumns(std::string texts, std::vector<std::uint32_t> ends, std::vector<std::vector<std::uint32_t>> groups)
        : texts_(std::move(texts)), ends_(std::move(ends)), groups_(std::move(groups)) {
        if (groups_.size() > ends_.size()) throw std::invalid_argument("there are more groups than features");
        for (const auto& group : groups_)
            for (const std::uint32_t part : group)
                if (part >= singles()) throw std::invalid_argument("a group has a feature that there is not");
        if (texts_.size() >= std::numeric_limits<std::uint32_t>::max()) throw std::length_error("texts are too long");
        if (!texts_.empty() && texts_.back() != '\0') throw std::invalid_argument("the last text has no end");
        starts_.push_back(0);
        for (std::size_t at = 0; at < texts_.size(); ++at)
            if (texts_[at] == '\0') starts_.push_back(static_cast<std::uint32_t>(at + 1));
        table_.reserve(size());
        std::uint32_t column = 0;
        for (std::uint32_t feature = 0; feature < ends_.size(); ++feature) {
            if (ends_[feature] < column || ends_[feature] > size())
                throw std::invalid_argument("the ends of features are out of order");
            for (; column < ends_[feature]; ++column) {
                const std::uint32_t hash = hash_of(feature, text(column));
                if (find({feature, hash, text(column)}) != kNone) throw std::invalid_argument("a text occurs twice");
                table_.insert(hash, column);
            }
        }
        if (column != size()) throw std::invalid_argument("the ends of features do not cover the texts");
    }

    std::size_t size() const { return starts_.size() - 1; }
    std::size_t singles() const { return ends_.size() - groups_.size(); }
    const std::string& texts() const { return texts_; }
    const std::vector<std::uint32_t>& ends() const { return ends_; }
    const std::vector<std::vector<std::uint32_t>>& groups() const { return groups_; }

    // Appends the columns of a row of values, one per single feature, in the order of the features. An empty value is
    // none, and neither is a group with an empty part.
    template <class Number>
    void find(std::span<const std::string_view> values, Scratch& scratch, std::vector<Number>& found) const {
        scratch.asked.clear();
        const auto ask = [&](std::size_t feature, std::string_view text) {
            const auto number = static_cast<std::uint32_t>(feature);
            const std::uint32_t hash = hash_of(number, text);
            table_.prefetch(hash);
            scratch.asked.push_back({number, hash, text});
        };
        for (std::size_t feature = 0; feature < values.size(); ++feature)
            if (!values[feature].empty()) ask(feature, values[feature]);
        // Joined texts are pieces of one that must not move.
        std::size_t most = 0;
        for (const auto& group : groups_)
            for (const std::uint32_t part : group) most += values[part].size() + 1;
        scratch.joined.clear();
        scratch.joined.reserve(most);
        for (std::size_t group = 0; group < groups_.size(); ++group) {
            const std::size_t begin = scratch.joined.size();
            bool whole = true;
            for (const std::uint32_t part : groups_[group]) {
                whole = whole && !values[part].empty();
                scratch.joined.append(values[part]).push_back(kJoint);
            }
            if (whole)
                ask(singles() + group,
                    std::string_view(scratch.joined).substr(begin).substr(0, scratch.joined.size() - begin - 1));
        }
        for (const auto& one : scratch.asked)
            if (const std::uint32_t column = find(one); column != kNone) found.push_back(static_cast<Number>(column));
    }

  private:
    static constexpr char kJoint = '|';

    static std::uint32_t hash_of(std::uint32_t feature, std::string_view text) {
        return detail::hash_bytes(text) + feature * 0x9e3779b9u;
    }

    std::string_view text(std::uint32_t column) const {
        return std::string_view(texts_).substr(starts_[column], starts_[column + 1] - starts_[column] - 1);
    }

    std::uint32_t find(const Scratch::Asked& asked) const {
        const std::uint32_t first = asked.feature ? ends_[asked.feature - 1] : 0, end = ends_[asked.feature];
        return table_.find(asked.hash, [&](std::uint32_t column) {
            return column >= first && column < end && text(column) == asked.text;
        });
    }

    std::string texts_;
    std::vector<std::uint32_t> ends_, starts_;
    std::vector<std::vector<std::uint32_t>> groups_;
    detail::IndexTable table_;
};

}  // namespace sapwood
