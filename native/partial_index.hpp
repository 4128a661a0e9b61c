// A partial-tree model in which pairs of nodes that have nothing but labels in common are counted, not visited.
//
// D(n, m) of two subtrees with the same label is the *bare* value unless they share the label of a child. What a node n
// of a row makes of the subtrees of one shape (a label over labels) therefore depends on
//
//     the labels of n and its children, if all children that match are bare with what the shape has there: then it is one
//         number for the whole shape, worked out once for all nodes with these labels (a Plan);
//     the tables of D of its children otherwise.
//
// A child with few values that are not bare, such as a tag over a word, lists them. The subtrees of the model above these
// are then the only ones that are not worth the number in the plan. Children with many values keep a table by place, and
// shapes in which such a child matches are gone through subtree by subtree.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "arena.hpp"
#include "bags.hpp"
#include "buffers.hpp"
#include "lens.hpp"
#include "parallel.hpp"
#include "partial.hpp"
#include "scoring.hpp"
#include "sequences.hpp"

namespace sapwood {

class PartialIndex {
  public:
    // For child sequences of any length and leaves that count; weights: elements x outputs, row major. The arena must
    // outlive the index and not change.
    // A thread makes all plans anew once they hold more than `room` numbers.
    PartialIndex(const Arena& arena, const Bags& bags, const double* weights, std::size_t outputs,
                 const PartialOptions& options, std::size_t room = std::size_t{1} << 22)
        : arena_(arena), columns_(arena, bags, options), outputs_(outputs), room_(room),
          bare_(options.depth_decay * options.decay * options.decay), label_weight_(arena.symbols.size() * outputs, 0.0),
          weight_(columns_.positions() * outputs, 0.0), shape_weight_(columns_.shapes() * outputs, 0.0),
          first_position_(arena.symbols.size(), 0), shapes_of_(arena.symbols.size()) {
        const std::vector<double> worth = subtree_weights(arena, bags, weights, outputs);
        const std::vector<std::uint32_t>& position = columns_.positions_of_nodes();
        const std::vector<std::uint32_t> holder = last_holders(arena, bags);
        leaf_weight_.assign(label_weight_.size(), 0.0);
        for (Node node = 0; node < arena.size(); ++node) {
            if (holder[node] == kNone) continue;
            auto& labels = arena.is_leaf(node) ? leaf_weight_ : label_weight_;
            for (std::size_t o = 0; o < outputs; ++o) {
                labels[arena.label(node) * outputs + o] += worth[node * outputs + o];
                if (position[node] != kNone) weight_[position[node] * outputs + o] = worth[node * outputs + o];
            }
        }
        for (std::uint32_t number = 0; number < columns_.shapes(); ++number) {
            const PartialColumns::Shape& shape = columns_.shape(number);
            const Symbol label = arena.label(arena.sample(shape.production));
            first_position_[label] = shape.begin + 1 - shape.place;
            if (shape.place == 1) shapes_of_[label].begin = number;
            shapes_of_[label].end = number + 1;
            for (std::size_t o = 0; o < outputs; ++o)
                for (std::size_t k = 0; k < shape.count; ++k)
                    shape_weight_[number * outputs + o] += weight_[(shape.begin + k) * outputs + o];
        }
        if (outputs > 1) {
            by_output_.resize(weight_.size());
            for (std::size_t at = 0; at < columns_.positions(); ++at)
                for (std::size_t o = 0; o < outputs; ++o) by_output_[o * columns_.positions() + at] = weight_[at * outputs + o];
        }
        list_parents();
    }

    std::size_t outputs() const { return outputs_; }
    std::size_t bytes() const {
        return (label_weight_.capacity() + leaf_weight_.capacity() + weight_.capacity() + by_output_.capacity() + shape_weight_.capacity()) * 8 +
               parent_.capacity() * sizeof(Parent) + parent_end_.capacity() * 4;
    }

    // out: elements x outputs, row major.
    void score(const Arena& rows, const Elements& elements, double* out, std::size_t threads, Control& control) const {
        const Bags bags = make_bags(rows, elements.roots, elements.ends, elements.one_each, threads);
        const LabelLens labels(rows, arena_);
        parallel_blocks(bags.size(), 16, threads, control, [&] {
            return [&, reader = Reader(*this, rows, labels, control)](std::size_t begin, std::size_t end) mutable {
                for (std::size_t i = begin; i < end; ++i)
                    reader.score(bags.numbers_of(i), bags.counts_of(i), out + i * outputs_);
            };
        });
    }

  private:
    static constexpr std::size_t kFew = 4;      // values that are listed rather than kept in a table
    static constexpr std::size_t kLane = 32;    // subtrees of a shape worked on together
    static constexpr std::size_t kCells = 64;   // pairs of children beyond which a shape is left to SequenceSums

    struct Parent {  // a subtree of the model
        std::uint32_t shape, number;
    };

    // D of a node against the subtrees of the model with its label.
    struct Values {
        std::size_t few = 0;                      // how many are listed, if there is no table
        std::array<std::uint32_t, kFew> place{};
        std::array<double, kFew> value{};
        std::vector<double> table;                // by place; empty: all that are not listed are bare
        std::vector<double> spread;               // a table of what is listed, where somebody needs one
        bool dense() const { return !table.empty(); }
    };

    struct Cell {  // a pair of children with the same label
        std::uint32_t i, j;         // of the node and of the shape
        std::uint32_t begin, end;   // the cells that may come before it, in the links of the plan
    };
    struct Link {
        std::uint32_t cell;
        double weight;
    };
    struct Entry {  // a shape that shares the label of a child
        std::uint32_t shape;
        std::uint32_t begin, end;  // its cells
        double bare = 0.0;         // depth decay * the sum over sequences if all children that match are bare
        bool wide = false;         // it has no cells here
    };
    // What all nodes with the same labels and the same kinds of children have to do.
    struct Plan {
        std::vector<std::uint32_t> key;      // label, and label and kind of every child
        std::vector<Entry> counted, visited;
        std::vector<Cell> cells;
        std::vector<Link> links;
        std::vector<double> worth;           // per output: of all that is counted
        std::size_t members = 0;             // subtrees of the shapes that are counted
        bool wide = false;
        std::size_t size() const { return key.size() + 8 * (counted.size() + visited.size()) + 4 * (cells.size() + links.size()); }
    };

    class Reader {
      public:
        Reader(const PartialIndex& index, const Arena& arena, const LabelLens& labels, const Control& control)
            : index_(index), columns_(index.columns_), options_(columns_.options()), arena_(arena), labels_(labels),
              control_(control), order_(arena), sequences_(options_, control), entry_(columns_.shapes()),
              seen_shape_(columns_.shapes(), 0), seen_member_(columns_.positions(), 0), where_(index.arena_.symbols.size(), 0) {}

        void score(std::span<const Node> nodes, std::span<const double> counts, double* out) {
            std::fill(out, out + index_.outputs_, 0.0);
            for (std::size_t k = 0; k < nodes.size(); ++k) add_label(nodes[k], counts[k], out);
            order_.enter(nodes);
            if (values_.size() < order_.slots()) values_.resize(order_.slots());
            for (const std::size_t k : order_.order()) {
                evaluate(nodes[k], counts[k], out);
                order_.done(nodes[k], [&](std::uint32_t slot) {
                    for (std::vector<double>* table : {&values_[slot].table, &values_[slot].spread}) {
                        buffers_.give(std::move(*table));
                        *table = {};
                    }
                });
                if (work_ > 1000000) {
                    control_.check();
                    work_ = 0;
                }
            }
        }

      private:
        // What the label alone is worth: mu * lambda^2 with every node that has it.
        void add_label(Node node, double count, double* out) {
            const Symbol label = labels_(arena_.label(node));
            if (label == kNone) return;
            const bool leaf = arena_.is_leaf(node);
            const double* internal = index_.label_weight_.data() + label * index_.outputs_;
            const double* leaves = index_.leaf_weight_.data() + label * index_.outputs_;
            const double factor = leaf ? options_.terminal_factor : 1.0;
            for (std::size_t o = 0; o < index_.outputs_; ++o)
                out[o] += count * index_.bare_ * (internal[o] + factor * leaves[o]);
        }

        // Labels and kinds of the children of a node. A leaf that counts the same everywhere is like a node that is bare.
        void enter(Node node) {
            key_.clear();
            children_.clear();
            child_labels_.clear();
            key_.push_back(labels_(arena_.label(node)));
            for (const Node child : arena_.children(node)) {
                const std::uint32_t slot = order_.slot(child);
                Values* values = slot == kNone ? nullptr : &values_[slot];
                const bool listed = values ? !values->dense() : options_.terminal_factor == 1.0;
                children_.push_back({values, values && values->dense() ? values->table.data() : nullptr, listed});
                child_labels_.push_back(labels_(arena_.label(child)));
                key_.push_back(child_labels_.back());
                key_.push_back(listed);
            }
        }

        void evaluate(Node node, double count, double* out) {
            const std::uint32_t slot = order_.slot(node);
            Values& mine = values_[slot];
            mine.few = 0;
            const Symbol label = labels_(arena_.label(node));
            if (label == kNone || columns_.label_count(label) == 0) return;
            enter(node);
            const auto kids = arena_.children(node);
            const bool lexical = std::all_of(kids.begin(), kids.end(), [&](Node child) { return arena_.is_leaf(child); });
            // Every word would have a plan of its own.
            if (lexical) make(scratch_);
            const Plan& plan = lexical ? scratch_ : find();
            for (std::size_t o = 0; o < index_.outputs_; ++o) out[o] += count * plan.worth[o];
            double* table = nullptr;
            listed_ = nullptr;
            if (order_.wanted(slot)) {
                std::size_t members = plan.members;
                for (const Entry& entry : plan.visited) members += columns_.shape(entry.shape).count;
                if (members > kFew) table = fill(mine, plan, columns_.label_count(label));
                else listed_ = &mine;
            }
            if (listed_)
                for (const Entry& entry : plan.counted) {
                    const PartialColumns::Shape& shape = columns_.shape(entry.shape);
                    for (std::uint32_t k = 0; k < shape.count; ++k) list(shape.place + k, index_.bare_ + entry.bare);
                }
            correct(plan, count, table, out);
            if (plan.wide) enter_sequences();
            for (const Entry& entry : plan.visited) visit(plan, entry, count, table, out);
            work_ += plan.members + 8 * (1 + plan.counted.size() + plan.visited.size());
        }

        double* fill(Values& mine, const Plan& plan, std::size_t places) {
            mine.table = buffers_.take(places + 1);
            std::fill_n(mine.table.begin(), places + 1, index_.bare_);
            for (const Entry& entry : plan.counted) {
                const PartialColumns::Shape& shape = columns_.shape(entry.shape);
                std::fill_n(mine.table.begin() + shape.place, shape.count, index_.bare_ + entry.bare);
            }
            work_ += places;
            return mine.table.data();
        }

        void list(std::uint32_t place, double value) {
            for (std::size_t f = 0; f < listed_->few; ++f)
                if (listed_->place[f] == place) {
                    listed_->value[f] = value;
                    return;
                }
            listed_->place[listed_->few] = place;
            listed_->value[listed_->few++] = value;
        }

        // The subtrees of counted shapes that stand above what a child of this node is more than bare with.
        void correct(const Plan& plan, double count, double* table, double* out) {
            if (plan.counted.empty()) return;
            const std::size_t visit = ++visit_;
            for (const Entry& entry : plan.counted) entry_[entry.shape] = {visit, &entry};
            for (std::size_t i = 0; i < children_.size(); ++i) {
                const Child& child = children_[i];
                if (!child.values || !child.listed || child_labels_[i] == kNone) continue;
                for (std::size_t f = 0; f < child.values->few; ++f)
                    for (const Parent& parent : index_.parents(child_labels_[i], child.values->place[f], key_[0])) {
                        if (entry_[parent.shape].visit != visit) continue;
                        const PartialColumns::Shape& shape = columns_.shape(parent.shape);
                        const std::size_t position = shape.begin + parent.number;
                        if (seen_member_[position] == visit) continue;
                        seen_member_[position] = visit;
                        const Entry& entry = *entry_[parent.shape].entry;
                        const double value = one(plan, entry, shape, parent.number);
                        index_.add(position, count * (value - entry.bare), out);
                        keep(shape.place + parent.number, value, table);
                    }
            }
        }

        void keep(std::uint32_t place, double value, double* table) {
            if (table) table[place] = index_.bare_ + value;
            else if (listed_) list(place, index_.bare_ + value);
        }

        // All subtrees of a shape, one after the other.
        void visit(const Plan& plan, const Entry& entry, double count, double* table, double* out) {
            const PartialColumns::Shape& shape = columns_.shape(entry.shape);
            if (entry.wide) {
                result_.resize(std::max<std::size_t>(result_.size(), shape.count));
                sequences_.meet(columns_, shape);
                sequences_.evaluate(columns_, shape, {0, shape.count}, result_.data());
                for (std::uint32_t k = 0; k < shape.count; ++k) {
                    index_.add(shape.begin + k, count * options_.depth_decay * result_[k], out);
                    keep(shape.place + k, options_.depth_decay * result_[k], table);
                }
                work_ += shape.count * children_.size();
                return;
            }
            if (shape.count < 3) {
                for (std::uint32_t k = 0; k < shape.count; ++k) {
                    const double value = one(plan, entry, shape, k);
                    index_.add(shape.begin + k, count * value, out);
                    keep(shape.place + k, value, table);
                }
                return;
            }
            work_ += shape.count * (entry.end - entry.begin);
            for (std::uint32_t begin = 0; begin < shape.count; begin += kLane) {
                const std::size_t length = std::min<std::size_t>(kLane, shape.count - begin);
                alignas(64) double result[kLane];
                block(plan, entry, shape, begin, length, result);
                const double factor = options_.depth_decay;
                for (std::size_t k = 0; k < length; ++k) result[k] *= factor;
                for (std::size_t o = 0; o < index_.outputs_; ++o)
                    out[o] += count * dot(index_.weights(o) + shape.begin + begin, result, length);
                if (table) {
                    double* mine = table + shape.place + begin;
                    for (std::size_t k = 0; k < length; ++k) mine[k] = index_.bare_ + result[k];
                } else if (listed_) {
                    for (std::size_t k = 0; k < length; ++k)
                        list(shape.place + static_cast<std::uint32_t>(begin + k), index_.bare_ + result[k]);
                }
            }
        }

        static double dot(const double* weight, const double* value, std::size_t length) {
            double part[4] = {};
            std::size_t k = 0;
            for (; k + 4 <= length; k += 4)
                for (std::size_t j = 0; j < 4; ++j) part[j] += weight[k + j] * value[k + j];
            for (std::size_t j = 0; k + j < length; ++j) part[j] += weight[k + j] * value[k + j];
            return (part[0] + part[2]) + (part[1] + part[3]);
        }

        // T(cell) = D(cell) * (1 + sum over the cells before it of weight * T); the result is the sum of all T.
        double one(const Plan& plan, const Entry& entry, const PartialColumns::Shape& shape, std::uint32_t number) {
            const Cell& only = plan.cells[entry.begin];
            if (entry.end - entry.begin == 1)
                return options_.depth_decay * value(children_[only.i], columns_.child_places(shape, only.j)[number]);
            double before[kCells];
            double total = 0.0;
            for (std::uint32_t c = entry.begin; c < entry.end; ++c) {
                const Cell& cell = plan.cells[c];
                double sum = 1.0;
                for (std::uint32_t l = cell.begin; l < cell.end; ++l) sum += plan.links[l].weight * before[plan.links[l].cell];
                sum *= value(children_[cell.i], columns_.child_places(shape, cell.j)[number]);
                before[c - entry.begin] = sum;
                total += sum;
            }
            return options_.depth_decay * total;
        }

        void block(const Plan& plan, const Entry& entry, const PartialColumns::Shape& shape, std::size_t begin,
                   std::size_t length, double* result) {
            if (entry.end - entry.begin == 1) {
                const Cell& cell = plan.cells[entry.begin];
                gather(children_[cell.i], columns_.child_places(shape, cell.j) + begin, length, result);
                return;
            }
            sums_.resize(kCells * kLane);
            std::fill(result, result + length, 0.0);
            double lane[kLane];
            for (std::uint32_t c = entry.begin; c < entry.end; ++c) {
                const Cell& cell = plan.cells[c];
                double* sum = sums_.data() + (c - entry.begin) * kLane;
                gather(children_[cell.i], columns_.child_places(shape, cell.j) + begin, length, lane);
                std::fill(sum, sum + length, 1.0);
                for (std::uint32_t l = cell.begin; l < cell.end; ++l) {
                    const double* before = sums_.data() + plan.links[l].cell * kLane;
                    const double weight = plan.links[l].weight;
                    for (std::size_t k = 0; k < length; ++k) sum[k] += weight * before[k];
                }
                for (std::size_t k = 0; k < length; ++k) {
                    sum[k] *= lane[k];
                    result[k] += sum[k];
                }
            }
        }

        struct Child {
            Values* values;  // null: a leaf
            const double* table;
            bool listed;
        };

        double value(const Child& child, std::uint32_t place) const {
            if (child.table) return child.table[place];
            if (!child.values) return place == 0 ? index_.bare_ * options_.terminal_factor : index_.bare_;
            for (std::size_t f = 0; f < child.values->few; ++f)
                if (child.values->place[f] == place) return child.values->value[f];
            return index_.bare_;
        }

        void gather(const Child& child, const std::uint32_t* places, std::size_t length, double* out) const {
            if (child.table) {
                for (std::size_t k = 0; k < length; ++k) out[k] = child.table[places[k]];
                return;
            }
            for (std::size_t k = 0; k < length; ++k) out[k] = index_.bare_;
            if (!child.values) {
                for (std::size_t k = 0; k < length; ++k)
                    if (places[k] == 0) out[k] = index_.bare_ * options_.terminal_factor;
                return;
            }
            for (std::size_t f = 0; f < child.values->few; ++f) {
                const std::uint32_t place = child.values->place[f];
                const double value = child.values->value[f];
                for (std::size_t k = 0; k < length; ++k) out[k] = places[k] == place ? value : out[k];
            }
        }

        // The plan for the node that was entered, made if there is none yet.
        const Plan& find() {
            std::uint64_t state = detail::hash_seed();
            for (const std::uint32_t part : key_) state = detail::mix(state, part);
            const auto hash = static_cast<std::uint32_t>(state ^ (state >> 32));
            const std::uint32_t found = table_.find(hash, [&](std::uint32_t number) { return plans_[number].key == key_; });
            if (found != kNone) return plans_[found];
            if (kept_ > index_.room_) {
                plans_.clear();
                table_ = {};
                kept_ = 0;
            }
            table_.insert(hash, static_cast<std::uint32_t>(plans_.size()));
            plans_.emplace_back();
            make(plans_.back());
            kept_ += plans_.back().size();
            return plans_.back();
        }

        void make(Plan& plan) {
            plan.key = key_;
            plan.counted.clear();
            plan.visited.clear();
            plan.cells.clear();
            plan.links.clear();
            plan.worth.assign(index_.outputs_, 0.0);
            plan.members = 0;
            plan.wide = false;
            ++making_;
            // Per label the first child with it, and per child the next one with the same label; both counted from 1.
            next_.assign(child_labels_.size(), 0);
            for (std::size_t i = child_labels_.size(); i-- > 0;) {
                if (child_labels_[i] == kNone) continue;
                next_[i] = where_[child_labels_[i]];
                where_[child_labels_[i]] = static_cast<std::uint32_t>(i + 1);
            }
            for (const Symbol child : child_labels_) {
                if (child == kNone) continue;
                for (const std::uint32_t number : columns_.shapes_with(key_[0], child)) {
                    if (seen_shape_[number] == making_) continue;
                    seen_shape_[number] = making_;
                    add(plan, number);
                }
            }
            for (const Symbol child : child_labels_)
                if (child != kNone) where_[child] = 0;
        }

        void add(Plan& plan, std::uint32_t number) {
            const PartialColumns::Shape& shape = columns_.shape(number);
            Entry entry{number, static_cast<std::uint32_t>(plan.cells.size()), 0};
            const std::size_t links = plan.links.size();
            entry.wide = !find_cells(plan, columns_.child_labels(shape));
            if (entry.wide) {
                plan.cells.resize(entry.begin);
                plan.links.resize(links);
                plan.wide = true;
            }
            entry.end = static_cast<std::uint32_t>(plan.cells.size());
            const bool counted = !entry.wide && std::all_of(plan.cells.begin() + entry.begin, plan.cells.end(),
                                                            [&](const Cell& cell) { return children_[cell.i].listed; });
            work_ += shape.arity + 8;
            if (!counted) {
                plan.visited.push_back(entry);
                return;
            }
            entry.bare = bare_sum(plan, entry);
            for (std::size_t o = 0; o < index_.outputs_; ++o)
                plan.worth[o] += entry.bare * index_.shape_weight_[number * index_.outputs_ + o];
            plan.members += shape.count;
            plan.counted.push_back(entry);
        }

        // False if there are too many.
        bool find_cells(Plan& plan, std::span<const Symbol> theirs) {
            const std::size_t begin = plan.cells.size();
            for (std::uint32_t j = 0; j < theirs.size(); ++j)
                for (std::uint32_t at = where_[theirs[j]]; at != 0; at = next_[at - 1]) {
                    const std::uint32_t i = at - 1;
                    if (plan.cells.size() - begin == kCells) return false;
                    Cell cell{i, j, static_cast<std::uint32_t>(plan.links.size()), 0};
                    for (std::size_t c = begin; c < plan.cells.size(); ++c) {
                        const Cell& before = plan.cells[c];
                        if (before.i >= i || before.j >= j) continue;
                        const std::uint32_t gaps = (i - before.i - 1) + (j - before.j - 1);
                        while (powers_.size() <= gaps) powers_.push_back(powers_.empty() ? 1.0 : powers_.back() * options_.decay);
                        plan.links.push_back({static_cast<std::uint32_t>(c - begin), powers_[gaps]});
                    }
                    cell.end = static_cast<std::uint32_t>(plan.links.size());
                    plan.cells.push_back(cell);
                }
            return true;
        }

        double bare_sum(const Plan& plan, const Entry& entry) const {
            double before[kCells];
            double total = 0.0;
            for (std::uint32_t c = entry.begin; c < entry.end; ++c) {
                double sum = 1.0;
                for (std::uint32_t l = plan.cells[c].begin; l < plan.cells[c].end; ++l)
                    sum += plan.links[l].weight * before[plan.links[l].cell];
                total += before[c - entry.begin] = sum * index_.bare_;
            }
            return options_.depth_decay * total;
        }

        // Sequences are summed up from tables, which children with listed values get for this once.
        void enter_sequences() {
            sources_.clear();
            for (std::size_t i = 0; i < children_.size(); ++i) {
                Child& child = children_[i];
                if (!child.values) {
                    sources_.push_back({nullptr, index_.bare_ * options_.terminal_factor, index_.bare_});
                } else if (child.table) {
                    sources_.push_back({child.table, 0.0, 0.0});
                } else {
                    std::vector<double>& spread = child.values->spread;
                    if (spread.empty()) {
                        const Symbol label = child_labels_[i];
                        const std::size_t places = label == kNone ? 0 : columns_.label_count(label);
                        spread = buffers_.take(places + 1);
                        std::fill_n(spread.begin(), places + 1, index_.bare_);
                        for (std::size_t f = 0; f < child.values->few; ++f) spread[child.values->place[f]] = child.values->value[f];
                        work_ += places;
                    }
                    sources_.push_back({spread.data(), 0.0, 0.0});
                }
            }
            sequences_.enter(child_labels_, sources_);
        }

        const PartialIndex& index_;
        const PartialColumns& columns_;
        const PartialOptions options_;
        const Arena& arena_;
        const LabelLens& labels_;
        const Control& control_;
        NodeOrder order_;
        SequenceSums sequences_;  // for shapes with very many children
        std::vector<Values> values_;  // per slot
        Values* listed_ = nullptr;    // where the values of the node at hand are listed, if they are
        Buffers buffers_;
        std::vector<Plan> plans_;
        detail::IndexTable table_;  // of plans
        Plan scratch_;
        std::size_t kept_ = 0;
        std::vector<std::uint32_t> key_;
        std::vector<Symbol> child_labels_;
        std::vector<Child> children_;
        std::vector<SequenceSums::Child> sources_;
        std::vector<double> powers_, sums_, result_;
        struct Known {
            std::size_t visit = 0;
            const Entry* entry = nullptr;
        };
        std::vector<Known> entry_;  // per shape: that of the plan at hand, if it was set at this visit
        std::vector<std::size_t> seen_shape_, seen_member_;
        std::vector<std::uint32_t> where_, next_;  // while a plan is made
        std::size_t making_ = 0, visit_ = 0, work_ = 0;
    };

    void add(std::size_t position, double value, double* out) const {
        for (std::size_t o = 0; o < outputs_; ++o) out[o] += value * weight_[position * outputs_ + o];
    }

    // By position.
    const double* weights(std::size_t output) const {
        return outputs_ == 1 ? weight_.data() : by_output_.data() + output * columns_.positions();
    }

    // The subtrees with some label that have the one at this place as a child.
    std::span<const Parent> parents(Symbol label, std::uint32_t place, Symbol above) const {
        const std::size_t position = first_position_[label] + place - 1;
        const auto begin = parent_.begin() + (position == 0 ? 0 : parent_end_[position - 1]);
        const auto end = parent_.begin() + parent_end_[position];
        const auto before = [](const Parent& parent, std::uint32_t shape) { return parent.shape < shape; };
        const auto first = std::lower_bound(begin, end, shapes_of_[above].begin, before);
        return {first, std::lower_bound(first, end, shapes_of_[above].end, before)};
    }

    void list_parents() {
        std::vector<std::uint32_t> next(columns_.positions() + 1, 0);
        const auto for_each = [&](auto visit) {
            for (std::uint32_t number = 0; number < columns_.shapes(); ++number) {
                const PartialColumns::Shape& shape = columns_.shape(number);
                const auto labels = columns_.child_labels(shape);
                for (std::uint32_t k = 0; k < shape.count; ++k)
                    for (std::size_t slot = 0; slot < labels.size(); ++slot)
                        if (const std::uint32_t place = columns_.child_places(shape, slot)[k]; place != 0)
                            visit(first_position_[labels[slot]] + place - 1, Parent{number, k});
            }
        };
        for_each([&](std::size_t position, Parent) { ++next[position + 1]; });
        for (std::size_t at = 1; at < next.size(); ++at) next[at] += next[at - 1];
        parent_end_.assign(next.begin() + 1, next.end());
        parent_.resize(next.back());
        for_each([&](std::size_t position, Parent parent) { parent_[next[position]++] = parent; });
    }

    const Arena& arena_;
    PartialColumns columns_;
    std::size_t outputs_, room_;
    double bare_;
    std::vector<double> label_weight_, leaf_weight_;  // per label x outputs: the sums of weights of internal nodes, of leaves
    std::vector<double> weight_, by_output_;          // per position x outputs; per output x positions, if there are several
    std::vector<double> shape_weight_;                // per shape x outputs: the sum of weights
    std::vector<std::size_t> first_position_;         // per label: the position of the first subtree with it
    struct Shapes {
        std::uint32_t begin = 0, end = 0;
    };
    std::vector<Shapes> shapes_of_;  // per label
    std::vector<Parent> parent_;     // shape after shape
    std::vector<std::uint32_t> parent_end_;  // per position
};

inline void score(const PartialIndex& index, const Arena& arena, const Elements& elements, double* out, std::size_t threads,
                  Control& control) {
    index.score(arena, elements, out, threads, control);
}

}  // namespace sapwood
