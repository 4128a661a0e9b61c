// The heaviest fragments of kernels that align children leniently (see explain/aligned.hpp): words need only be
// similar, tags of one family can stand for each other, optional children can be left out.
//
// A fragment is one of the element, with the element's labels and words. It adds up everything in the model that it can
// be aligned with; or, where pairs are asked for, is listed once per fragment of the model. Fragments grow production
// by production as in explain/fragments.hpp, words being productions of tags. A fragment can fit a node in several
// ways, by leaving out different children, so a node may have several rows. The search is best first as in
// explain/heaviest.hpp, its bound the most that each row can still gain: factors above 1 come from words and tags that
// are more than similar.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/parallel.hpp"
#include "explain/aligned.hpp"
#include "explain/aligned_growth.hpp"
#include "explain/best_first.hpp"
#include "explain/growth.hpp"
#include "explain/heaviest.hpp"
#include "trees/arena.hpp"

namespace sapwood {

struct AlignedMode {
    bool single = false;   // the element only says which fragments there are; each counts once
    bool pairs = false;    // tell the fragments of the model apart
    bool deleted = false;  // say which children were left out
};

class AlignedSearch {
  public:
    // weight and count: per subtree of the model and of the element.
    AlignedSearch(const AlignedSide& theirs, std::vector<double> weight, const AlignedSide& mine,
                  std::vector<double> count, const SimilarWords& similar, std::size_t keys, AlignedCosts costs,
                  AlignedMode mode, std::size_t capacity, std::size_t limit, const Control& control)
        : theirs_(theirs),
          mine_(mine),
          weight_(std::move(weight)),
          count_(std::move(count)),
          similar_(similar),
          costs_(costs),
          mode_(mode),
          limit_(limit),
          control_(control),
          best_(capacity),
          by_key_(theirs.variants, keys, [](const auto& v) { return v.key; }),
          by_own_(mine.variants, mine.own_count, [](const auto& v) { return v.own; }),
          of_own_(mine.own_count, kNone),
          of_word_(costs.ignore_words ? 1 : mine.arena.symbols.size(), kNone),
          of_key_(keys, kNone) {
        AlignedGrowth growth(theirs, mine, similar, costs, keys);
        my_growth_ = std::move(growth.mine);
        their_growth_ = std::move(growth.theirs);
    }

    Heaviest run() {
        start();
        exact_ = waiting_.run(
            limit_, work_, control_, [&] { return best_.threshold(); },
            [&](const auto& next) {
                expand(
                    std::make_shared<const Grown>(next.from ? grow(*next.from, next.at, next.step) : seed(next.step)));
            });
        return result();
    }

  private:
    using Kind = AlignedSide::Kind;
    using Variant = AlignedSide::Variant;

    // Variants by number.
    struct Index {
        std::vector<std::size_t> begin;
        std::vector<std::uint32_t> numbers;
        template <class Of>
        Index(const std::vector<Variant>& variants, std::size_t count, Of of)
            : begin(count + 1, 0), numbers(variants.size()) {
            for (const Variant& variant : variants) ++begin[of(variant) + 1];
            for (std::size_t k = 1; k <= count; ++k) begin[k] += begin[k - 1];
            std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
            for (std::uint32_t k = 0; k < variants.size(); ++k) numbers[next[of(variants[k])]++] = k;
        }
        std::span<const std::uint32_t> of(std::uint32_t number) const {
            return std::span(numbers).subspan(begin[number], begin[number + 1] - begin[number]);
        }
    };
    // One production of a fragment: the variant, or the tag, on both sides that it is a copy of.
    struct Step {
        std::uint32_t before, slot;
        bool word;
        std::uint32_t mine, theirs;
    };
    struct OpenSlot {
        std::uint32_t number;
        Symbol label;
    };
    struct Rows {
        std::vector<Node> roots, fillings;
        std::vector<double> values;
    };
    struct Grown {
        std::uint32_t step = kNone, slots = 0;
        std::vector<OpenSlot> open;
        Rows mine, theirs;
    };
    // What the element has to fill a slot with.
    struct Candidate {
        bool word;
        std::uint32_t number, sample;  // own number or word; the variant or tag it was first seen at
        std::uint32_t next = kNone;    // with the same key
        std::uint32_t group = kNone;   // what the model has for it, unless pairs are asked for
        double total = 0.0, count = 0.0, most = 0.0;
    };
    // What the model has for a candidate, with pairs for each look of its own.
    struct Group {
        std::uint32_t candidate, sample;
        double total = 0.0, positive = 0.0, negative = 0.0;
    };
    struct Entry {
        std::uint32_t step;
        double count;
    };
    // One way in which a whole fragment fits.
    struct Fit {
        double value;
        std::vector<Node> slots;
        std::vector<Symbol> deleted;
    };

    std::uint32_t my_word(Node tag) const { return costs_.ignore_words ? 0 : mine_.word(tag); }
    std::uint32_t their_word(Node tag) const { return costs_.ignore_words ? 0 : theirs_.word(tag); }

    // How well the labels of two variants fit: 1 where none may mutate.
    double aligned(const Variant& mine, const Variant& theirs) const {
        double product = 1.0;
        const auto kids = mine_.kids_of(mine), others = theirs_.kids_of(theirs);
        for (std::size_t t = 0; t < kids.size(); ++t) {
            const AlignedSide::Label& label = mine_.label[mine_.arena.label(kids[t])];
            if (!label.mutates) continue;
            const bool equal = label.there == theirs_.arena.label(others[t]);
            const bool tag = mine_.kind[kids[t]] == Kind::tag, their_tag = theirs_.kind[others[t]] == Kind::tag;
            if (tag && their_tag)
                product *= equal ? label.weights.same : label.weights.different;
            else if (tag != their_tag)
                product *= equal ? label.weights.bare_same : label.weights.bare_different;
            else if (!equal)
                return 0.0;
        }
        return product;
    }

    Candidate& candidate(std::uint32_t& place, bool word, std::uint32_t number, std::uint32_t sample) {
        if (place == kNone) {
            place = static_cast<std::uint32_t>(candidates_.size());
            candidates_.push_back({word, number, sample});
        }
        return candidates_[place];
    }

    void add_mine(Candidate& candidate, double count, double value, double growth) {
        candidate.total += count * value;
        candidate.count += count;
        candidate.most += count * value * growth;
    }

    void add_theirs(std::uint32_t candidate, std::uint32_t look, std::uint32_t sample, double share, double growth) {
        if (share == 0.0) return;
        std::uint32_t& place = mode_.pairs
                                   ? group_of_.try_emplace((std::uint64_t{candidate} << 32) | look, kNone).first->second
                                   : candidates_[candidate].group;
        if (place == kNone) {
            place = static_cast<std::uint32_t>(groups_.size());
            groups_.push_back({candidate, sample});
        }
        Group& group = groups_[place];
        group.total += share;
        if (similar_.negative()) {
            group.positive += std::abs(share) * growth;
            group.negative -= std::abs(share) * growth;
        } else {
            (share > 0 ? group.positive : group.negative) += share * growth;
        }
    }

    void offer_phrases(Node node, double count, double value, double growth) {
        for (const Variant& variant : mine_.variants_of(node)) {
            const std::uint32_t number = number_of(mine_, variant);
            const bool fresh = of_own_[variant.own] == kNone;
            Candidate& found = candidate(of_own_[variant.own], false, variant.own, number);
            if (fresh) {
                found.next = of_key_[variant.key];
                of_key_[variant.key] = of_own_[variant.own];
            }
            double most = growth;
            for (const Node kid : mine_.kids_of(variant)) most *= std::max(1.0, my_growth_[kid]);
            add_mine(found, count, value * variant.weight, most);
        }
    }

    void meet_phrases(const Variant& variant, double share, const Growth& before) {
        if (of_key_[variant.key] == kNone) return;
        Growth growth = before;
        for (const Node kid : theirs_.kids_of(variant)) growth.at(their_growth_[kid]);
        for (std::uint32_t place = of_key_[variant.key]; place != kNone; place = candidates_[place].next)
            add_theirs(
                place, variant.own, number_of(theirs_, variant),
                share * costs_.phrase * variant.weight * aligned(mine_.variants[candidates_[place].sample], variant),
                growth.most());
    }

    static std::uint32_t number_of(const AlignedSide& side, const Variant& variant) {
        return static_cast<std::uint32_t>(&variant - side.variants.data());
    }

    void start() {
        // Per word the tags over it.
        std::unordered_map<std::uint64_t, std::uint32_t> tags;
        std::vector<std::vector<std::uint32_t>> over(of_word_.size());
        for (Node node = 0; node < mine_.arena.size(); ++node) {
            if (count_[node] == 0.0) continue;
            if (mine_.kind[node] == Kind::phrase) offer_phrases(node, count_[node], 1.0, 1.0);
            if (mine_.kind[node] != Kind::tag) continue;
            const std::uint32_t word = my_word(node);
            std::uint32_t& place =
                tags.try_emplace((std::uint64_t{mine_.arena.label(node)} << 32) | word, kNone).first->second;
            if (place == kNone) over[word].push_back(static_cast<std::uint32_t>(candidates_.size()));
            add_mine(candidate(place, true, word, node), count_[node], 1.0, 0.0);
        }
        for (Node node = 0; node < theirs_.arena.size(); ++node) {
            if (weight_[node] == 0.0) continue;
            if (theirs_.kind[node] == Kind::phrase)
                for (const Variant& variant : theirs_.variants_of(node)) meet_phrases(variant, weight_[node], {});
            if (theirs_.kind[node] != Kind::tag) continue;
            const Symbol label = theirs_.arena.label(node);
            for (const SimilarWords::Match& match : similar_.of(theirs_.word(node)))
                for (const std::uint32_t place : over[match.word]) {
                    const AlignedSide::Label& my_label = mine_.label[mine_.arena.label(candidates_[place].sample)];
                    if (my_label.family == kNone || my_label.family != theirs_.label[label].family) continue;
                    const double similar = my_label.there == label ? my_label.weights.same : my_label.weights.different;
                    // A tag with its word is one distinct subtree.
                    add_theirs(place, costs_.ignore_words ? label : node, node,
                               weight_[node] * costs_.word * match.value * similar, 0.0);
                }
            work_ += 1;
        }
        settle(nullptr, 0);
    }

    void settle(const std::shared_ptr<const Grown>& from, std::uint32_t at) {
        for (const Group& group : groups_) {
            const Candidate& found = candidates_[group.candidate];
            const double weight = group.total * (mode_.single ? 1.0 : found.total);
            const double bound = std::max(group.positive, -group.negative) * (mode_.single ? 1.0 : found.most);
            if (!best_.takes(weight) && !(bound > best_.threshold())) continue;
            const auto step = static_cast<std::uint32_t>(steps_.size());
            steps_.push_back(
                {from ? from->step : kNone, from ? from->open[at].number : 0, found.word, found.sample, group.sample});
            best_.add(weight, {step, found.count});
            if (bound > best_.threshold()) waiting_.push(bound, from, at, step);
        }
        groups_.clear();
        group_of_.clear();
        for (const Candidate& found : candidates_) {
            if (found.word) {
                of_word_[found.number] = kNone;
            } else {
                of_own_[found.number] = kNone;
                of_key_[mine_.variants[found.sample].key] = kNone;
            }
        }
        candidates_.clear();
    }

    void expand(const std::shared_ptr<const Grown>& grown) {
        const std::size_t width = grown->open.size();
        for (std::uint32_t at = 0; at < width; ++at) {
            const Rows& mine = grown->mine;
            for (std::size_t i = 0; i < mine.values.size(); ++i) {
                const Node* row = mine.fillings.data() + i * width;
                if (row[at] == kNone) continue;
                double growth = 1.0;
                for (std::size_t k = at + 1; k < width; ++k)
                    if (row[k] != kNone) growth *= std::max(1.0, my_growth_[row[k]]);
                if (mine_.kind[row[at]] == Kind::tag) {
                    const std::uint32_t word = my_word(row[at]);
                    add_mine(candidate(of_word_[word], true, word, row[at]), count_[mine.roots[i]], mine.values[i],
                             growth);
                } else {
                    offer_phrases(row[at], count_[mine.roots[i]], mine.values[i], growth);
                }
            }
            const double similar = beneath(mine_.label[grown->open[at].label]);
            const Rows& theirs = grown->theirs;
            for (std::size_t i = 0; i < theirs.values.size(); ++i) {
                const Node* row = theirs.fillings.data() + i * width;
                if (row[at] == kNone) continue;
                Growth growth;
                for (std::size_t k = at + 1; k < width; ++k)
                    if (row[k] != kNone) growth.at(their_growth_[row[k]]);
                const double share = weight_[theirs.roots[i]] * theirs.values[i];
                if (theirs_.kind[row[at]] == Kind::tag) {
                    // The tags are settled by the production above, so that only the word tells one look from another.
                    for (const SimilarWords::Match& match : similar_.of(theirs_.word(row[at])))
                        if (of_word_[match.word] != kNone)
                            add_theirs(of_word_[match.word], their_word(row[at]), row[at],
                                       share * costs_.word * similar * match.value, growth.most());
                } else {
                    for (const Variant& variant : theirs_.variants_of(row[at])) meet_phrases(variant, share, growth);
                }
            }
            work_ += mine.values.size() + theirs.values.size();
            settle(grown, at);
        }
        work_ += 64;
    }

    Grown seed(std::uint32_t step) {
        Grown grown;
        grown.step = step;
        open_.clear();
        const Variant& sample = mine_.variants[steps_[step].mine];
        add_slots(grown, sample);
        Rows mine, theirs;
        for (const std::uint32_t number : by_own_.of(sample.own)) {
            const Variant& variant = mine_.variants[number];
            if (count_[variant.owner] != 0.0) add_row(mine_, variant, variant.owner, variant.weight, {}, mine);
        }
        for (const std::uint32_t number : by_key_.of(sample.key)) {
            const Variant& variant = theirs_.variants[number];
            if (weight_[variant.owner] == 0.0 || !looks_right(variant, step)) continue;
            if (const double value = costs_.phrase * variant.weight * aligned(sample, variant); value != 0.0)
                add_row(theirs_, variant, variant.owner, value, {}, theirs);
        }
        compact(mine, theirs, grown);
        return grown;
    }

    bool looks_right(const Variant& variant, std::uint32_t step) const {
        return !mode_.pairs || variant.own == theirs_.variants[steps_[step].theirs].own;
    }

    void add_slots(Grown& grown, const Variant& sample) {
        for (const Node kid : mine_.kids_of(sample)) open_.push_back({grown.slots++, mine_.arena.label(kid)});
    }

    static void add_row(const AlignedSide& side, const Variant& variant, Node root, double value,
                        std::span<const Node> before, Rows& rows) {
        rows.roots.push_back(root);
        rows.values.push_back(value);
        rows.fillings.insert(rows.fillings.end(), before.begin(), before.end());
        const auto kids = side.kids_of(variant);
        rows.fillings.insert(rows.fillings.end(), kids.begin(), kids.end());
    }

    Grown grow(const Grown& from, std::size_t at, std::uint32_t step) {
        Grown grown;
        grown.step = step;
        grown.slots = from.slots;
        const std::size_t width = from.open.size();
        open_.assign(from.open.begin() + static_cast<std::ptrdiff_t>(at) + 1, from.open.end());
        if (!steps_[step].word) add_slots(grown, mine_.variants[steps_[step].mine]);
        Rows mine, theirs;
        for (std::size_t i = 0; i < from.mine.values.size(); ++i) {
            const std::span<const Node> row(from.mine.fillings.data() + i * width, width);
            if (row[at] == kNone) continue;
            const auto before = row.subspan(at + 1);
            const Node root = from.mine.roots[i];
            if (steps_[step].word) {
                if (mine_.kind[row[at]] == Kind::tag && my_word(row[at]) == my_word(steps_[step].mine))
                    keep_row(root, from.mine.values[i], before, mine);
            } else {
                for (const Variant& variant : mine_.variants_of(row[at]))
                    if (variant.own == mine_.variants[steps_[step].mine].own)
                        add_row(mine_, variant, root, from.mine.values[i] * variant.weight, before, mine);
            }
        }
        const double similar = beneath(mine_.label[from.open[at].label]);
        for (std::size_t i = 0; i < from.theirs.values.size(); ++i) {
            const std::span<const Node> row(from.theirs.fillings.data() + i * width, width);
            if (row[at] == kNone) continue;
            const auto before = row.subspan(at + 1);
            const Node root = from.theirs.roots[i];
            if (steps_[step].word) {
                if (theirs_.kind[row[at]] != Kind::tag) continue;
                if (mode_.pairs && their_word(row[at]) != their_word(steps_[step].theirs)) continue;
                for (const SimilarWords::Match& match : similar_.of(theirs_.word(row[at])))
                    if (match.word == my_word(steps_[step].mine))
                        keep_row(root, from.theirs.values[i] * costs_.word * similar * match.value, before, theirs);
            } else {
                const Variant& sample = mine_.variants[steps_[step].mine];
                for (const Variant& variant : theirs_.variants_of(row[at])) {
                    if (variant.key != sample.key || !looks_right(variant, step)) continue;
                    const double value =
                        from.theirs.values[i] * costs_.phrase * variant.weight * aligned(sample, variant);
                    if (value != 0.0) add_row(theirs_, variant, root, value, before, theirs);
                }
            }
        }
        compact(mine, theirs, grown);
        return grown;
    }

    static void keep_row(Node root, double value, std::span<const Node> before, Rows& rows) {
        rows.roots.push_back(root);
        rows.values.push_back(value);
        rows.fillings.insert(rows.fillings.end(), before.begin(), before.end());
    }

    // Leaves out slots that one side can fill nowhere, and rows that cannot grow.
    void compact(Rows& mine, Rows& theirs, Grown& grown) {
        const std::size_t width = open_.size();
        std::vector<bool> useful[2] = {std::vector<bool>(width, false), std::vector<bool>(width, false)};
        for (const int side : {0, 1}) {
            Rows& rows = side == 0 ? mine : theirs;
            const std::vector<double>& growth = side == 0 ? my_growth_ : their_growth_;
            for (std::size_t i = 0; i < rows.values.size(); ++i)
                for (std::size_t j = 0; j < width; ++j) {
                    Node& filling = rows.fillings[i * width + j];
                    if (filling != kNone && growth[filling] == 0.0) filling = kNone;
                    if (filling != kNone) useful[side][j] = true;
                }
        }
        for (std::size_t j = 0; j < width; ++j) {
            useful[0][j] = useful[0][j] && useful[1][j];
            if (useful[0][j]) grown.open.push_back(open_[j]);
        }
        for (const int side : {0, 1}) {
            const Rows& rows = side == 0 ? mine : theirs;
            Rows& out = side == 0 ? grown.mine : grown.theirs;
            for (std::size_t i = 0; i < rows.values.size(); ++i) {
                const std::size_t before = out.fillings.size();
                bool alive = false;
                for (std::size_t j = 0; j < width; ++j) {
                    if (!useful[0][j]) continue;
                    out.fillings.push_back(rows.fillings[i * width + j]);
                    alive |= out.fillings.back() != kNone;
                }
                if (!alive) {
                    out.fillings.resize(before);
                    continue;
                }
                out.roots.push_back(rows.roots[i]);
                out.values.push_back(rows.values[i]);
            }
        }
    }

    std::vector<std::uint32_t> chain(std::uint32_t last) const {
        std::vector<std::uint32_t> steps;
        for (std::uint32_t at = last; at != kNone; at = steps_[at].before) steps.push_back(at);
        std::reverse(steps.begin(), steps.end());
        return steps;
    }

    Node write(bool mine, std::uint32_t last, Arena& out) const {
        const AlignedSide& side = mine ? mine_ : theirs_;
        const auto text = [&](Symbol label) { return out.symbols.intern(side.arena.symbols.text(label)); };
        std::vector<Node> slots;
        std::vector<std::size_t> begins;
        const std::vector<std::uint32_t> steps = chain(last);
        for (const std::uint32_t number : steps) {
            begins.push_back(slots.size());
            if (steps_[number].word) continue;
            for (const Node kid : side.kids_of(side.variants[mine ? steps_[number].mine : steps_[number].theirs]))
                slots.push_back(out.leaf(text(side.arena.label(kid))));
        }
        Node node = kNone;
        for (std::size_t k = steps.size(); k-- > 0;) {
            const Step& step = steps_[steps[k]];
            if (step.word) {
                const Node tag = mine ? step.mine : step.theirs;
                const Node word = out.leaf(costs_.ignore_words ? out.symbols.intern("*") : text(side.word(tag)));
                node = out.node(text(side.arena.label(tag)), std::span(&word, 1));
            } else {
                const Variant& variant = side.variants[mine ? step.mine : step.theirs];
                node = out.node(text(side.arena.label(variant.owner)),
                                std::span(slots).subspan(begins[k], variant.length));
            }
            if (step.before != kNone) slots[step.slot] = node;
        }
        return node;
    }

    // The labels of the children that the cheapest fit of a fragment leaves out.
    std::vector<std::string> left_out(bool mine, std::uint32_t last) const {
        const AlignedSide& side = mine ? mine_ : theirs_;
        const std::vector<double>& weight = mine ? count_ : weight_;
        const auto use = [&](const Fit& fit, const Variant& variant, std::vector<Fit>& into) {
            Fit more = fit;
            more.value *= variant.weight;
            const auto kept = side.kids_of(variant);
            std::size_t next = 0;
            for (const Node child : side.arena.children(variant.owner)) {
                if (next < kept.size() && kept[next] == child)
                    ++next;
                else
                    more.deleted.push_back(side.arena.label(child));
            }
            more.slots.insert(more.slots.end(), kept.begin(), kept.end());
            into.push_back(std::move(more));
        };
        std::vector<Fit> fits, grown;
        for (const std::uint32_t number : chain(last)) {
            const Step& step = steps_[number];
            grown.clear();
            if (step.word) {
                if (step.before == kNone) return {};
                for (Fit& fit : fits) {
                    const Node node = fit.slots[step.slot];
                    if (side.kind[node] == Kind::tag &&
                        (costs_.ignore_words || side.word(node) == side.word(mine ? step.mine : step.theirs)))
                        grown.push_back(std::move(fit));
                }
            } else {
                const std::uint32_t own = side.variants[mine ? step.mine : step.theirs].own;
                if (step.before == kNone) {
                    for (const Variant& variant : side.variants)
                        if (variant.own == own && weight[variant.owner] != 0.0) use({1.0, {}, {}}, variant, grown);
                } else {
                    for (const Fit& fit : fits)
                        for (const Variant& variant : side.variants_of(fit.slots[step.slot]))
                            if (variant.own == own) use(fit, variant, grown);
                }
            }
            fits.swap(grown);
        }
        const auto best =
            std::max_element(fits.begin(), fits.end(), [](const Fit& a, const Fit& b) { return a.value < b.value; });
        std::vector<std::string> result;
        if (best != fits.end())
            for (const Symbol label : best->deleted) result.emplace_back(side.arena.symbols.text(label));
        return result;
    }

    // Whether none of the variants that are not listed could be aligned.
    bool is_complete(const AlignedSide& side, const AlignedSide& other) const {
        if (side.unlisted.empty()) return true;
        std::vector<bool> held(of_key_.size(), false);
        for (const Variant& variant : other.variants) held[variant.key] = true;
        for (const std::uint32_t key : other.unlisted) held[key] = true;
        return std::none_of(side.unlisted.begin(), side.unlisted.end(), [&](std::uint32_t key) { return held[key]; });
    }

    Heaviest result() {
        Heaviest found;
        for (const auto& kept : best_.sorted()) {
            const std::uint32_t step = kept.entry.step;
            found.roots.push_back(write(true, step, found.arena));
            found.weights.push_back(kept.weight);
            if (!mode_.single) found.counts.push_back(kept.entry.count);
            if (mode_.pairs) found.others.push_back(write(false, step, found.arena));
            if (!mode_.deleted) continue;
            found.deleted.push_back(left_out(true, step));
            if (mode_.pairs) found.other_deleted.push_back(left_out(false, step));
        }
        found.exact = exact_ && is_complete(mine_, theirs_) && is_complete(theirs_, mine_);
        return found;
    }

    const AlignedSide &theirs_, &mine_;
    std::vector<double> weight_, count_;
    const SimilarWords& similar_;
    AlignedCosts costs_;
    AlignedMode mode_;
    std::size_t limit_;
    const Control& control_;
    Best<Entry> best_;
    Index by_key_, by_own_;                                 // of their variants, of mine
    std::vector<std::uint32_t> of_own_, of_word_, of_key_;  // candidates, between two settlements
    std::vector<double> my_growth_, their_growth_;          // per subtree: what expanding it multiplies by at most
    std::vector<Candidate> candidates_;
    std::vector<Group> groups_;
    std::unordered_map<std::uint64_t, std::uint32_t> group_of_;
    std::vector<OpenSlot> open_;
    std::vector<Step> steps_;
    BestFirst<Grown> waiting_;
    std::size_t work_ = 0;
    bool exact_ = true;
};

}  // namespace sapwood
